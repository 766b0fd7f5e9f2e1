import type { Pod } from '../api/pod.ts';
import type { NodeView } from '../cluster/node-info.ts';
import type { CycleState } from './cycle-state.ts';
import { hasPreFilterExtensions } from './pre-filter-extensions.ts';
import type { MadePlugins } from './make-plugins.ts';
import { readPreFilterResult, readRejection } from './plugin-answers.ts';
import type { PluginCalls } from './plugin-calls.ts';
import { failureOf } from './plugin-failure.ts';
import { countersOf } from './plugin-meter.ts';
import type { CallCount } from './plugin-meter.ts';
import type { Plugin } from './plugin.ts';
import { judgesNodes } from './pod-signer.ts';
import type { PodSigner } from './pod-signer.ts';
import { Status } from './status.ts';

/**
 * PreFilter's result for a pod: a rejection, or the nodes to consider (undefined: all). `mayChange` is true if a plugin that reads other
 * nodes rejected the pod, skipped it or named nodes. Such a plugin may return another result after further assignments.
 */
export type PreFilterResult = { readonly mayChange: boolean } & (
  { readonly status: Status } | { readonly status: undefined; readonly nodeNames: ReadonlySet<string> | undefined }
);

/** Status of a node that PreFilter excluded. */
export const notPreselected = new Status('UnschedulableAndUnresolvable', {
  text: "node(s) didn't satisfy plugin(s) [PreFilter]",
  code: 'NotPreselected',
});

/** Runs PreFilter for all plugins or a subset, and updates its results with AddPod and RemovePod. */
export class PreFilterPoint {
  readonly #all: readonly Plugin[];
  /** Plugins whose results are the same for pods with equal signatures. */
  readonly #shared: readonly Plugin[];
  /** Plugins that run for every pod, because they sign nothing or later store data about the single pod. */
  readonly #own: readonly Plugin[];
  /** Plugins that read other nodes and whose results Filter or Score uses. */
  readonly #others: readonly Plugin[];
  /** Plugins with both AddPod and RemovePod. */
  readonly #withExtensions: readonly Plugin[];
  readonly #calls: PluginCalls;
  /** plugin -> its number of calls */
  readonly #counts: ReadonlyMap<Plugin, CallCount>;

  constructor(at: MadePlugins['at'], signer: PodSigner, calls: PluginCalls) {
    const isSigned = (plugin: Plugin): boolean => plugin.sign !== undefined || judgesNodes(plugin, at);
    this.#all = at.preFilter;
    this.#shared = at.preFilter.filter(isSigned);
    this.#own = at.preFilter.filter((plugin) => !isSigned(plugin) || storesLater(plugin));
    this.#others = at.preFilter.filter((plugin) => signer.isOther(plugin));
    this.#withExtensions = at.preFilter.filter(hasPreFilterExtensions);
    this.#calls = calls;
    this.#counts = countersOf(at.preFilter, 'PreFilter');
  }

  counts(): Iterable<CallCount> {
    return this.#counts.values();
  }

  all(state: CycleState, pod: Pod): PreFilterResult {
    return this.#run(this.#all, state, pod, undefined);
  }

  /** Runs the plugins whose results hold for all pods with equal signatures. */
  shared(state: CycleState, pod: Pod): PreFilterResult {
    return this.#run(this.#shared, state, pod, undefined);
  }

  /**
   * Runs the plugins that need a call per pod, after `shared` ran for a pod with an equal signature. `state` is a fork of that pod's
   * state; `among` are the nodes that `shared` left.
   */
  own(state: CycleState, pod: Pod, among: ReadonlySet<string> | undefined): PreFilterResult {
    return this.#run(this.#own, state, pod, among);
  }

  /** Runs only the plugins that read other nodes. */
  others(state: CycleState, pod: Pod): PreFilterResult {
    return this.#run(this.#others, state, pod, undefined);
  }

  /** Like `others`; returns a rejection of the pod or of this node. */
  othersReject(state: CycleState, pod: Pod, nodeName: string): Status | undefined {
    const { status, ...result } = this.others(state, pod);
    if (status !== undefined || !('nodeNames' in result)) return status;
    return result.nodeNames?.has(nodeName) === false ? notPreselected : undefined;
  }

  #run(
    plugins: readonly Plugin[],
    state: CycleState,
    pod: Pod,
    among: ReadonlySet<string> | undefined,
  ): PreFilterResult {
    if (plugins.length === 0) return { status: undefined, nodeNames: among, mayChange: false };
    let nodeNames = among;
    let mayChange = false;
    const startedAt = this.#calls.beginOfMany();
    for (const plugin of plugins) {
      const result = this.#calls.call(plugin, 'PreFilter', () => readPreFilterResult(plugin.preFilter!(state, pod)));
      const isSkipped = result instanceof Status && result.code === 'Skip';
      if (!isSkipped) this.#counts.get(plugin)!.calls++;
      if (result === undefined) continue;
      mayChange ||= plugin.readsOtherNodes === true && result !== Status.skipThroughout;
      if (!(result instanceof Status)) {
        const { nodeNames: more } = result;
        nodeNames = nodeNames === undefined ? more : new Set([...more].filter((name) => nodeNames!.has(name)));
      } else if (isSkipped) {
        state.skipFilter(plugin.name);
      } else {
        this.#calls.ran('PreFilter', result.code, startedAt);
        return { status: result.from(plugin.name), mayChange };
      }
    }
    this.#calls.ran('PreFilter', 'Success', startedAt);
    return { status: undefined, nodeNames, mayChange };
  }

  /** True if a plugin implements AddPod and RemovePod. */
  get followsAssignedPods(): boolean {
    return this.#withExtensions.length > 0;
  }

  /** Updates the PreFilter results of `pod` after `added` was assigned to `node`. Returns a failure. `names`: of the only plugins to call. */
  addPod(state: CycleState, pod: Pod, added: Pod, node: NodeView, names?: ReadonlySet<string>): Status | undefined {
    for (const plugin of this.#withExtensions) {
      if (state.skippedFilters.has(plugin.name) || names?.has(plugin.name) === false) continue;
      const status = this.#calls.guarded(plugin, 'AddPod', () =>
        readRejection(plugin.preFilterAddPod!(state, pod, added, node)),
      );
      if (status !== undefined) return failureOf(plugin, 'AddPod', status);
    }
    return undefined;
  }

  /** Reverts `addPod`. Returns a failure. */
  removePod(
    state: CycleState,
    pod: Pod,
    removed: Pod,
    node: NodeView,
    names?: ReadonlySet<string>,
  ): Status | undefined {
    for (const plugin of this.#withExtensions) {
      if (state.skippedFilters.has(plugin.name) || names?.has(plugin.name) === false) continue;
      const status = this.#calls.guarded(plugin, 'RemovePod', () =>
        readRejection(plugin.preFilterRemovePod!(state, pod, removed, node)),
      );
      if (status !== undefined) return failureOf(plugin, 'RemovePod', status);
    }
    return undefined;
  }
}

/** Returns whether a later point of the plugin may write to the state that PreFilter created, so that each pod needs its own state. */
function storesLater(plugin: Plugin): boolean {
  return (['reserve', 'permit', 'preBind', 'bind', 'postBind'] as const).some((point) => plugin[point] !== undefined);
}
