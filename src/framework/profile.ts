import type { Pod } from '../api/pod.ts';
import type { NodeView } from '../cluster/node-info.ts';
import { BindingPoints } from './binding-points.ts';
import type { SchedulingEntity, QueueKey } from './scheduling-entity.ts';
import { CycleState } from './cycle-state.ts';
import type { Diagnosis } from './diagnosis.ts';
import { guardedPolicy } from './guarded-policy.ts';
import { makePlugins } from './make-plugins.ts';
import type { MadePlugins, ProfilePlugins } from './make-plugins.ts';
import { readCount, readPermitResult, readPostFilterResult, readRejection } from './plugin-answers.ts';
import { PluginCalls } from './plugin-calls.ts';
import { failureOf, PluginFailure } from './plugin-failure.ts';
import { outcomeOf } from './plugin-meter.ts';
import type { CallCount, MeasuredPoint, Outcome, PluginMeter } from './plugin-meter.ts';
import type { Plugin, PostFilterResult } from './plugin.ts';
import { PodSigner } from './pod-signer.ts';
import type { PodSignatures } from './pod-signer.ts';
import { PreFilterPoint } from './pre-filter-point.ts';
import type { PreFilterResult } from './pre-filter-point.ts';
import { ProfileError } from './profile-error.ts';
import { ScorePoints } from './score-points.ts';
import type { ScorePlugin } from './score-points.ts';
import { Status } from './status.ts';

export { notPreselected } from './pre-filter-point.ts';
export type { EnabledPlugin } from './enabled-plugin.ts';
export type { PluginRegistry } from './make-plugins.ts';
export type { PreFilterResult } from './pre-filter-point.ts';
export { PluginFailure } from './plugin-failure.ts';
export type { PodSignatures } from './pod-signer.ts';
export { ProfileError } from './profile-error.ts';

export interface FilterPlugin {
  readonly name: string;
  readonly plugin: Plugin;
  /** Number of calls. */
  calls: number;
}

/** Combined result of the Permit plugins. `waits`: plugin -> milliseconds; empty when the pod can be bound at once. */
export type PermitAnswer =
  { readonly status: Status } | { readonly status: undefined; readonly waits: Map<string, number> };

/** A result of PostFilter, with the plugin that returned it. */
export interface PostFilterAnswer {
  readonly plugin: string;
  readonly result: PostFilterResult;
}

/**
 * The enabled plugins of one schedulerName and how each point runs them. If a plugin throws, returns an invalid value or exceeds its
 * deadline, the point returns an Error status that names the plugin. Methods throw plugin failures only where they say so.
 */
export class Profile {
  readonly schedulerName: string;
  /** Plugins that run at some point, or that implement no point. */
  readonly plugins: readonly Plugin[];
  /** Filters whose results can be reused by signature, in order. */
  readonly localFilters: readonly FilterPlugin[];
  /** Filters that read other nodes or pods, in order. */
  readonly otherFilters: readonly FilterPlugin[];
  readonly scorers: readonly ScorePlugin[];
  readonly preFilters: PreFilterPoint;
  readonly scoring: ScorePoints;
  /** Name of the plugin that decides what a gang is; undefined: members of groups are scheduled as single pods. */
  readonly gangPolicy: string | undefined;
  /** True if a plugin besides the gang policy evaluates pods without signing them: pods with equal signatures may get different results. */
  readonly judgesUnsigned: boolean;
  readonly #signer: PodSigner;
  /** point -> the plugins that run there, in order */
  readonly #at: MadePlugins['at'];
  /** Scorers that read other nodes. */
  readonly #otherScorers: readonly Plugin[];
  readonly #queueSort: Plugin;
  readonly #calls: PluginCalls;
  readonly #binding: BindingPoints;

  /** Throws ProfileError. Without a meter, measures the duration of no call. */
  constructor(options: ProfilePlugins & { readonly meter?: PluginMeter | undefined }) {
    const { plugins, at, weights } = makePlugins(options);
    this.schedulerName = options.schedulerName;
    const { clock, logger } = options.handle;
    this.#calls = new PluginCalls({ clock, logger, meter: options.meter });
    this.#binding = new BindingPoints(at, this.#calls);
    this.plugins = plugins;
    this.#at = at;
    this.scorers = at.score.map((plugin) => ({ plugin, weight: weights.get(plugin)!, calls: 0 }));
    this.scoring = new ScorePoints(at, this.#calls);
    const filters = at.filter.map((plugin) => ({ name: plugin.name, plugin, calls: 0 }));
    this.localFilters = filters.filter(({ plugin }) => plugin.readsOtherNodes !== true);
    this.otherFilters = filters.filter(({ plugin }) => plugin.readsOtherNodes === true);
    this.gangPolicy = plugins.find((plugin) => plugin.decidesGangs === true)?.name;
    this.judgesUnsigned = plugins.some(
      (plugin) =>
        plugin.name !== this.gangPolicy &&
        plugin.sign === undefined &&
        (at.preFilter.includes(plugin) || (plugin.reserve !== undefined && at.reserve.includes(plugin))),
    );
    this.#signer = new PodSigner(plugins, at, this.#calls);
    this.preFilters = new PreFilterPoint(at, this.#signer, this.#calls);
    this.#otherScorers = at.score.filter((plugin) => plugin.readsOtherNodes === true);
    if (at.queueSort.length !== 1) {
      const names = at.queueSort.map((plugin) => plugin.name).join(', ') || 'none';
      const text = `exactly one QueueSort plugin must be enabled (got ${names})`;
      throw new ProfileError([{ schedulerName: this.schedulerName, text, point: 'queueSort' }]);
    }
    this.#queueSort = at.queueSort[0]!;
    if (at.bind.length === 0) {
      const text = 'no Bind plugin is enabled; enable DefaultBinder';
      throw new ProfileError([{ schedulerName: this.schedulerName, text, point: 'bind' }]);
    }
  }

  /** Throws PluginFailure. */
  signaturesOf(pod: Pod): PodSignatures {
    return this.#signer.sign(pod);
  }

  /** Plugins whose fragments make up a pod's signatures, in that order. */
  get signers(): readonly Plugin[] {
    return this.#signer.local;
  }

  /** Returns whether a Filter that did not skip this pod reads other nodes. Call it after PreFilter. */
  filtersByOthers(state: CycleState, pod: Pod): boolean {
    return this.otherFilters.some(
      ({ name, plugin }) => !state.skippedFilters.has(name) && dependsOnAssignedPods(plugin, state, pod),
    );
  }

  /**
   * Returns whether a Filter or Score that did not skip this pod reads other nodes, so that every assignment may change its results. Call
   * it after PreFilter and PreScore.
   */
  readsOthers(state: CycleState, pod: Pod): boolean {
    if (this.filtersByOthers(state, pod)) return true;
    return this.#otherScorers.some(
      (plugin) => !state.skippedScores.has(plugin.name) && dependsOnAssignedPods(plugin, state, pod),
    );
  }

  /** Returns whether the result of one of these filters, which read other nodes, may change when `other` is assigned to the node. */
  dependOnPod(filters: readonly FilterPlugin[], state: CycleState, pod: Pod, other: Pod): boolean {
    return filters.some(({ plugin }) => dependsOnPod(plugin, state, pod, other));
  }

  /** Name of the QueueSort plugin. */
  get queueSort(): string {
    return this.#queueSort.name;
  }

  /** Orders by ready time if the plugin fails. */
  compare(a: QueueKey, b: QueueKey): number {
    let order: unknown;
    try {
      order = this.#queueSort.compare!(a, b);
    } catch (error) {
      this.#calls.failed('QueueSort plugin failed', this.#queueSort, error);
    }
    if (typeof order === 'number' && !Number.isNaN(order)) return order;
    return a.readySince - b.readySince || (a.uid < b.uid ? -1 : a.uid === b.uid ? 0 : 1);
  }

  /** Number of plugin calls, at the points that count them. */
  *calls(): Iterable<CallCount> {
    yield* this.preFilters.counts();
    for (const { name, calls } of [...this.localFilters, ...this.otherFilters]) {
      yield { plugin: name, point: 'Filter', calls };
    }
    yield* this.scoring.counts();
    for (const { plugin, calls } of this.scorers) yield { plugin: plugin.name, point: 'Score', calls };
  }

  /** Number of plugin calls for single nodes. */
  get nodeCalls(): number {
    let sum = 0;
    for (const { calls } of this.localFilters) sum += calls;
    for (const { calls } of this.otherFilters) sum += calls;
    for (const { calls } of this.scorers) sum += calls;
    return sum;
  }

  /** Returns the start time to pass to `ran`; NaN: not timed. */
  begin(): number {
    return this.#calls.begin();
  }

  /** Records a run of all plugins since `startedAt`, at points where the caller combines several calls into a run. */
  ran(point: MeasuredPoint, outcome: Outcome, startedAt: number): void {
    this.#calls.ran(point, outcome, startedAt);
  }

  preEnqueue(schedulingEntity: SchedulingEntity): Status | undefined {
    const startedAt = this.begin();
    for (const plugin of this.#at.preEnqueue) {
      const status = this.#calls.call(plugin, 'PreEnqueue', () => readRejection(plugin.preEnqueue!(schedulingEntity)));
      if (status === undefined) continue;
      this.ran('PreEnqueue', status.code, startedAt);
      return status.from(plugin.name);
    }
    this.ran('PreEnqueue', 'Success', startedAt);
    return undefined;
  }

  preFilter(state: CycleState, pod: Pod): PreFilterResult {
    return this.preFilters.all(state, pod);
  }

  /** Returns whether all plugins that read other nodes skip the pod, so that its node does not matter to them. */
  skipOthers(pod: Pod): boolean {
    if (this.otherFilters.length === 0) return true;
    const state = new CycleState();
    const { status } = this.preFilters.others(state, pod);
    return status === undefined && filtersFor(state, this.otherFilters).length === 0;
  }

  /** Runs the given filters on one node, except those that PreFilter skipped. Returns the first rejection. */
  filter(filters: readonly FilterPlugin[], state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    return this.filterAll(filtersFor(state, filters), state, pod, node);
  }

  /** Like `filter`, but runs all the given filters. The hot loop: allocates nothing. */
  filterAll(filters: readonly FilterPlugin[], state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    for (let i = 0; i < filters.length; i++) {
      const filter = filters[i]!;
      const { plugin } = filter;
      filter.calls++;
      let status: Status | undefined;
      try {
        status = this.#calls.picksNodeCall()
          ? this.#timedFilter(plugin, state, pod, node)
          : plugin.filter!(state, pod, node);
      } catch (error) {
        return this.#calls.failure(plugin, 'Filter', error);
      }
      if (status !== undefined) return rejection(plugin, 'Filter', status);
    }
    return undefined;
  }

  /**
   * Like `filterAll` for many nodes, for filters that all implement `filterAll`. Moves the indexes of the nodes that pass to the front and
   * returns their number, or the Status of a failure.
   */
  keepPassing(
    filters: readonly FilterPlugin[],
    state: CycleState,
    pod: Pod,
    indexes: Int32Array,
    size: number,
  ): number | Status {
    let left = size;
    for (const filter of filters) {
      const { plugin } = filter;
      filter.calls += left;
      try {
        left = readCount(plugin.filterAll!(state, pod, indexes, left), left);
      } catch (error) {
        return this.#calls.failure(plugin, 'Filter', error);
      }
    }
    return left;
  }

  #timedFilter(plugin: Plugin, state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    const startedAt = this.begin();
    const status = plugin.filter!(state, pod, node);
    this.#calls.called(plugin, 'Filter', outcomeOf(status), startedAt);
    return status;
  }

  /** Returns sets of nodes, one of which must contain the members that a Filter keeps together. Throws PluginFailure. */
  domainsFor(members: readonly Pod[]): readonly (readonly number[])[] {
    return this.otherFilters.flatMap(({ plugin }) => {
      if (plugin.domainsFor === undefined) return [];
      try {
        return plugin.domainsFor(members) ?? [];
      } catch (error) {
        throw new PluginFailure(this.#calls.failure(plugin, 'DomainsFor', error));
      }
    });
  }

  /** Plugins that may free capacity, in order. */
  get postFilters(): readonly Plugin[] {
    return this.#at.postFilter;
  }

  /**
   * Yields the results of the plugins in order, or a Status when a plugin failed, which ends the point. As in kube-scheduler, the caller ends
   * it at the first result that helps.
   */
  *postFilter(
    schedulingEntity: SchedulingEntity,
    diagnosis: Diagnosis,
  ): Generator<PostFilterAnswer | Status, void, undefined> {
    if (this.postFilters.length === 0) return;
    let outcome: Outcome = 'Success';
    let spentMs = 0;
    try {
      for (const plugin of this.postFilters) {
        const startedAt = this.begin();
        const result = this.#calls.call(plugin, 'PostFilter', () =>
          readPostFilterResult(plugin.postFilter!(schedulingEntity, diagnosis)),
        );
        spentMs += this.begin() - startedAt;
        if (result === undefined) continue;
        if (result instanceof Status) {
          outcome = result.code;
          yield result;
          return;
        }
        const policy = result.policy && guardedPolicy(plugin, result.policy, this.#calls);
        yield { plugin: plugin.name, result: policy === undefined ? result : { ...result, policy } };
      }
      outcome = 'Unschedulable';
    } finally {
      this.ran('PostFilter', outcome, this.begin() - spentMs);
    }
  }

  reserve(state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    if (this.#at.reserve.length === 0) return undefined;
    const startedAt = this.#calls.beginOfMany();
    for (const plugin of this.#at.reserve) {
      const status = this.#calls.call(plugin, 'Reserve', () => readRejection(plugin.reserve?.(state, pod, node)));
      if (status === undefined) continue;
      this.ran('Reserve', status.code, startedAt);
      return status.from(plugin.name);
    }
    this.ran('Reserve', 'Success', startedAt);
    return undefined;
  }

  /** Runs in reverse plugin order. Logs exceptions, since there is nothing left to undo. */
  unreserve(state: CycleState, pod: Pod, nodeName: string): void {
    if (this.#at.reserve.length === 0) return;
    const startedAt = this.#calls.beginOfMany();
    for (const plugin of this.#at.reserve.toReversed()) {
      this.#calls.inform(plugin, 'Unreserve', pod, () => plugin.unreserve?.(state, pod, nodeName));
    }
    this.ran('Unreserve', 'Success', startedAt);
  }

  /** Runs every Permit plugin, even after one returned Wait. */
  permit(state: CycleState, pod: Pod, nodeName: string): PermitAnswer {
    const waits = new Map<string, number>();
    if (this.#at.permit.length === 0) return { status: undefined, waits };
    const startedAt = this.#calls.beginOfMany();
    for (const plugin of this.#at.permit) {
      const result = this.#calls.call(plugin, 'Permit', () => readPermitResult(plugin.permit!(state, pod, nodeName)));
      if (result === undefined) continue;
      if (result instanceof Status) {
        this.ran('Permit', result.code, startedAt);
        return { status: result.from(plugin.name) };
      }
      waits.set(plugin.name, result.waitMs);
    }
    this.ran('Permit', waits.size > 0 ? 'Wait' : 'Success', startedAt);
    return { status: undefined, waits };
  }

  /** Returns whether a plugin has work to do before the pod is bound. */
  needsPreBind(state: CycleState, pod: Pod, nodeName: string): boolean {
    return this.#binding.needsPreBind(state, pod, nodeName);
  }

  preBind(state: CycleState, pod: Pod, nodeName: string, signal: AbortSignal): Promise<Status | undefined> {
    return this.#binding.preBind(state, pod, nodeName, signal);
  }

  bind(state: CycleState, pod: Pod, nodeName: string, signal: AbortSignal): Promise<Status | undefined> {
    return this.#binding.bind(state, pod, nodeName, signal);
  }

  postBind(state: CycleState, pod: Pod, nodeName: string): void {
    this.#binding.postBind(state, pod, nodeName);
  }
}

/** Returns the filters that PreFilter did not skip for the pod. */
export function filtersFor({ skippedFilters }: CycleState, filters: readonly FilterPlugin[]): readonly FilterPlugin[] {
  return skippedFilters.size === 0 ? filters : filters.filter(({ name }) => !skippedFilters.has(name));
}

/** Treats a failure as true. */
function dependsOnAssignedPods(plugin: Plugin, state: CycleState, pod: Pod): boolean {
  if (plugin.dependsOnAssignedPods === undefined) return true;
  try {
    // Any value other than false counts as true.
    return (plugin.dependsOnAssignedPods(state, pod) as unknown) !== false;
  } catch {
    return true;
  }
}

/** Treats a failure as true. */
function dependsOnPod(plugin: Plugin, state: CycleState, pod: Pod, other: Pod): boolean {
  if (plugin.dependsOnPod === undefined) return true;
  try {
    return (plugin.dependsOnPod(state, pod, other) as unknown) !== false;
  } catch {
    return true;
  }
}

/** Returns the plugin's rejection with the plugin's name. */
function rejection(plugin: Plugin, point: string, result: unknown): Status {
  try {
    return readRejection(result)!.from(plugin.name);
  } catch (error) {
    return failureOf(plugin, point, error);
  }
}
