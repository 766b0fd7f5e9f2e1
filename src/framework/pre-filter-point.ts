import type { Pod } from '../api/pod.ts';
import type { NodeView } from '../cluster/node-info.ts';
import type { CycleState } from './cycle-state.ts';
import { keepsUp } from './keeps-up.ts';
import type { MadePlugins } from './make-plugins.ts';
import { readPreFilterResult, readRejection } from './plugin-answers.ts';
import { guarded } from './plugin-calls.ts';
import type { PluginCalls } from './plugin-calls.ts';
import { failureOf } from './plugin-failure.ts';
import { countersOf } from './plugin-meter.ts';
import type { CallCount } from './plugin-meter.ts';
import type { Plugin } from './plugin.ts';
import { judgesNodes } from './pod-signer.ts';
import type { PodSigner } from './pod-signer.ts';
import { Status } from './status.ts';

/**
 * PreFilter's answer for a pod: a rejection, or the nodes worth looking at (undefined: all). `mayChange`: a plugin that reads other
 * nodes rejected the pod, skipped it or named nodes, and may answer otherwise once more pods have landed.
 */
export type PreFilterResult = { readonly mayChange: boolean } & (
  { readonly status: Status } | { readonly status: undefined; readonly nodeNames: ReadonlySet<string> | undefined }
);

/** PreFilter left the node out. */
export const notPreselected = new Status(
  'UnschedulableAndUnresolvable',
  "node(s) didn't satisfy plugin(s) [PreFilter]",
);

/** PreFilter, of all plugins that have it or of a part of them, and AddPod and RemovePod, which bring its results up to date. */
export class PreFilterPoint {
  readonly #all: readonly Plugin[];
  /** Their answers are the same for pods with equal signatures. */
  readonly #shared: readonly Plugin[];
  /** They are asked about every pod, because they sign nothing or note things about one pod later on. */
  readonly #own: readonly Plugin[];
  /** They read other nodes, and Filter or Score uses what they compute. */
  readonly #others: readonly Plugin[];
  readonly #followers: readonly Plugin[];
  readonly #calls: PluginCalls;
  /** plugin -> its calls */
  readonly #counts: ReadonlyMap<Plugin, CallCount>;

  constructor(at: MadePlugins['at'], signer: PodSigner, calls: PluginCalls) {
    const isSigned = (plugin: Plugin): boolean => plugin.sign !== undefined || judgesNodes(plugin, at);
    this.#all = at.preFilter;
    this.#shared = at.preFilter.filter(isSigned);
    this.#own = at.preFilter.filter((plugin) => !isSigned(plugin) || notesLater(plugin));
    this.#others = at.preFilter.filter((plugin) => signer.isOther(plugin));
    this.#followers = at.preFilter.filter(keepsUp);
    this.#calls = calls;
    this.#counts = countersOf(at.preFilter, 'PreFilter');
  }

  counts(): Iterable<CallCount> {
    return this.#counts.values();
  }

  all(state: CycleState, pod: Pod): PreFilterResult {
    return this.#run(this.#all, state, pod, undefined);
  }

  /** The part whose answers hold for all pods with equal signatures. */
  shared(state: CycleState, pod: Pod): PreFilterResult {
    return this.#run(this.#shared, state, pod, undefined);
  }

  /**
   * The part that is asked about each pod, after `shared` for one with equal signatures: `state` is a fork of
   * that one's, `among` the nodes that it left.
   */
  own(state: CycleState, pod: Pod, among: ReadonlySet<string> | undefined): PreFilterResult {
    return this.#run(this.#own, state, pod, among);
  }

  /** The plugins that read other nodes alone. */
  others(state: CycleState, pod: Pod): PreFilterResult {
    return this.#run(this.#others, state, pod, undefined);
  }

  /** As `others`; returns a rejection, also of this node. */
  othersReject(state: CycleState, pod: Pod, nodeName: string): Status | undefined {
    const { status, ...answer } = this.others(state, pod);
    if (status !== undefined || !('nodeNames' in answer)) return status;
    return answer.nodeNames?.has(nodeName) === false ? notPreselected : undefined;
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
    const begun = this.#calls.beginOfMany();
    for (const plugin of plugins) {
      const answer = this.#calls.call(plugin, 'PreFilter', () => readPreFilterResult(plugin.preFilter!(state, pod)));
      const isSkipped = answer instanceof Status && answer.code === 'Skip';
      if (!isSkipped) this.#counts.get(plugin)!.calls++;
      if (answer === undefined) continue;
      mayChange ||= plugin.readsOtherNodes === true && answer !== Status.skipThroughout;
      if (!(answer instanceof Status)) {
        const { nodeNames: more } = answer;
        nodeNames = nodeNames === undefined ? more : new Set([...more].filter((name) => nodeNames!.has(name)));
      } else if (isSkipped) {
        state.skipFilter(plugin.name);
      } else {
        this.#calls.ran('PreFilter', answer.code, begun);
        return { status: answer.from(plugin.name), mayChange };
      }
    }
    this.#calls.ran('PreFilter', 'Success', begun);
    return { status: undefined, nodeNames, mayChange };
  }

  /** Some plugin keeps up to date what PreFilter computed. */
  get followsAssignedPods(): boolean {
    return this.#followers.length > 0;
  }

  /** `added` is now on `node`, as far as `pod` is concerned. Returns a failure. */
  addPod(state: CycleState, pod: Pod, added: Pod, node: NodeView): Status | undefined {
    for (const plugin of this.#followers) {
      if (state.skippedFilters.has(plugin.name)) continue;
      const status = guarded(plugin, 'AddPod', () => readRejection(plugin.preFilterAddPod!(state, pod, added, node)));
      if (status !== undefined) return failureOf(plugin, 'AddPod', status);
    }
    return undefined;
  }

  /** Takes `addPod` back. Returns a failure. */
  removePod(state: CycleState, pod: Pod, removed: Pod, node: NodeView): Status | undefined {
    for (const plugin of this.#followers) {
      if (state.skippedFilters.has(plugin.name)) continue;
      const status = guarded(plugin, 'RemovePod', () =>
        readRejection(plugin.preFilterRemovePod!(state, pod, removed, node)),
      );
      if (status !== undefined) return failureOf(plugin, 'RemovePod', status);
    }
    return undefined;
  }
}

/** After PreFilter it may write about one pod into what PreFilter made, so each needs one of its own. */
function notesLater(plugin: Plugin): boolean {
  return (['reserve', 'permit', 'preBind', 'bind', 'postBind'] as const).some((point) => plugin[point] !== undefined);
}
