import type { Pod } from '../api/pod.ts';
import type { NodeView } from '../cluster/node-info.ts';
import { BindingPoints } from './binding-points.ts';
import type { Candidate, QueueKey } from './candidate.ts';
import { CycleState } from './cycle-state.ts';
import type { Diagnosis } from './diagnosis.ts';
import { keepsUp } from './keeps-up.ts';
import { makePlugins } from './make-plugins.ts';
import type { MadePlugins, ProfilePlugins } from './make-plugins.ts';
import {
  readCount,
  readPermitAnswer,
  readPostFilterAnswer,
  readPreFilterAnswer,
  readRefusal,
  readRefusalOrSkip,
} from './plugin-answers.ts';
import { guarded, PluginCalls } from './plugin-calls.ts';
import { failureOf, PluginFailure } from './plugin-failure.ts';
import { outcomeOf } from './plugin-meter.ts';
import type { CallCount, CountedPoint, MeasuredPoint, Outcome, PluginMeter } from './plugin-meter.ts';
import type { Plugin, PostFilterResult } from './plugin.ts';
import { judgesNodes, PodSigner } from './pod-signer.ts';
import type { PodSignatures } from './pod-signer.ts';
import { ProfileError } from './profile-error.ts';
import { Status } from './status.ts';

export type { EnabledPlugin } from './enabled-plugin.ts';
export type { PluginRegistry } from './make-plugins.ts';
export { PluginFailure } from './plugin-failure.ts';
export type { PodSignatures } from './pod-signer.ts';
export { ProfileError } from './profile-error.ts';

export interface FilterPlugin {
  readonly name: string;
  readonly plugin: Plugin;
  /** How often it was asked. */
  calls: number;
}

export interface ScorePlugin {
  readonly plugin: Plugin;
  readonly weight: number;
  /** How often it was asked. */
  calls: number;
}

/**
 * PreFilter's answer for a pod: a refusal, or the nodes worth looking at (undefined: all). `mayChange`: a plugin that reads other
 * nodes refused the pod, skipped it or named nodes, and may answer otherwise once more pods have landed.
 */
export type PreFilterAnswer = { readonly mayChange: boolean } & (
  { readonly status: Status } | { readonly status: undefined; readonly nodeNames: ReadonlySet<string> | undefined }
);

/** What the Permit plugins together want: `waits` maps plugin -> milliseconds, empty when the pod may go on at once. */
export type PermitAnswer =
  { readonly status: Status } | { readonly status: undefined; readonly waits: ReadonlyMap<string, number> };

/** PreFilter left the node out. */
export const notPreselected = new Status(
  'UnschedulableAndUnresolvable',
  "node(s) didn't satisfy plugin(s) [PreFilter]",
);

/**
 * The enabled plugins of one schedulerName, and how each point runs them. A plugin that throws, answers what its point cannot
 * answer, or does not end in time answers Error, named; no method here throws on a plugin's behalf.
 */
export class Profile {
  readonly schedulerName: string;
  /** Those that have something to do, or no point of their own. */
  readonly plugins: readonly Plugin[];
  /** Filters whose answers may be reused for a signature, in order. */
  readonly localFilters: readonly FilterPlugin[];
  /** Filters that read other nodes or pods, in order. */
  readonly otherFilters: readonly FilterPlugin[];
  readonly scorers: readonly ScorePlugin[];
  /** Name of the plugin that decides what a gang is; undefined: members of groups are lone pods. */
  readonly gangPolicy: string | undefined;
  /** Some plugin besides the gang policy judges pods by what it does not sign: pods that are alike may fare differently. */
  readonly judgesUnsigned: boolean;
  readonly #signer: PodSigner;
  /** point -> the plugins that run there, in order */
  readonly #at: MadePlugins['at'];
  /** PreFilters whose answers are the same for pods with equal signatures. */
  readonly #sharedPreFilters: readonly Plugin[];
  /** PreFilters that are asked about every pod: of plugins that sign nothing, or that note things about one pod later on. */
  readonly #ownPreFilters: readonly Plugin[];
  /** PreFilters of plugins that read other nodes, where something comes of it. */
  readonly #otherPreFilters: readonly Plugin[];
  /** Scorers that read other nodes. */
  readonly #otherScorers: readonly Plugin[];
  /** PreScores of plugins that read other nodes. */
  readonly #otherPreScorers: readonly Plugin[];
  readonly #followers: readonly Plugin[];
  readonly #queueSort: Plugin;
  readonly #calls: PluginCalls;
  readonly #binding: BindingPoints;
  /** plugin -> its calls */
  readonly #preFilterCalls: ReadonlyMap<Plugin, CallCount>;
  readonly #preScoreCalls: ReadonlyMap<Plugin, CallCount>;

  /** Throws ProfileError. Without a meter nothing is timed. */
  constructor(options: ProfilePlugins & { readonly meter?: PluginMeter | undefined }) {
    const { plugins, at, weights } = makePlugins(options);
    this.schedulerName = options.schedulerName;
    const { clock, logger } = options.handle;
    this.#calls = new PluginCalls({ clock, logger, meter: options.meter });
    this.#binding = new BindingPoints(at, this.#calls);
    this.plugins = plugins;
    this.#at = at;
    this.scorers = at.score.map((plugin) => ({ plugin, weight: weights.get(plugin)!, calls: 0 }));
    const filters = at.filter.map((plugin) => ({ name: plugin.name, plugin, calls: 0 }));
    this.localFilters = filters.filter(({ plugin }) => plugin.readsOtherNodes !== true);
    this.otherFilters = filters.filter(({ plugin }) => plugin.readsOtherNodes === true);
    this.#preFilterCalls = countersOf(at.preFilter, 'PreFilter');
    this.#preScoreCalls = countersOf(at.preScore, 'PreScore');
    this.gangPolicy = plugins.find((plugin) => plugin.decidesGangs === true)?.name;
    this.judgesUnsigned = plugins.some(
      (plugin) =>
        plugin.name !== this.gangPolicy &&
        plugin.sign === undefined &&
        (at.preFilter.includes(plugin) || (plugin.reserve !== undefined && at.reserve.includes(plugin))),
    );
    this.#signer = new PodSigner(plugins, at);
    const isSigned = (plugin: Plugin): boolean => plugin.sign !== undefined || judgesNodes(plugin, at);
    this.#sharedPreFilters = at.preFilter.filter(isSigned);
    this.#ownPreFilters = at.preFilter.filter((plugin) => !isSigned(plugin) || notesLater(plugin));
    this.#otherPreFilters = at.preFilter.filter((plugin) => this.#signer.isOther(plugin));
    this.#otherScorers = at.score.filter((plugin) => plugin.readsOtherNodes === true);
    this.#otherPreScorers = at.preScore.filter((plugin) => plugin.readsOtherNodes === true);
    this.#followers = at.preFilter.filter(keepsUp);
    if (at.queueSort.length !== 1) {
      const names = at.queueSort.map((plugin) => plugin.name).join(', ') || 'none';
      const text = `exactly one enabled plugin must sort the queue, but enabled is ${names}`;
      throw new ProfileError([{ schedulerName: this.schedulerName, text, point: 'queueSort' }]);
    }
    this.#queueSort = at.queueSort[0]!;
    if (at.bind.length === 0) {
      const text = 'no enabled plugin binds; enable DefaultBinder';
      throw new ProfileError([{ schedulerName: this.schedulerName, text, point: 'bind' }]);
    }
  }

  /** Throws PluginFailure. */
  signaturesOf(pod: Pod): PodSignatures {
    return this.#signer.sign(pod);
  }

  /** The plugins that the fragments of a pod's signatures are of, in that order. */
  get signers(): readonly Plugin[] {
    return this.#signer.local;
  }

  /** Once PreFilter has run: does a Filter that did not skip this pod read other nodes? */
  filtersByOthers(state: CycleState, pod: Pod): boolean {
    return this.otherFilters.some(
      ({ name, plugin }) => !state.skippedFilters.has(name) && dependsOnPlacements(plugin, state, pod),
    );
  }

  /**
   * Once PreFilter and PreScore have run: does a Filter or Score that did not skip this pod read other nodes? Then what it
   * answers changes with every placement.
   */
  readsOthers(state: CycleState, pod: Pod): boolean {
    if (this.filtersByOthers(state, pod)) return true;
    return this.#otherScorers.some(
      (plugin) => !state.skippedScores.has(plugin.name) && dependsOnPlacements(plugin, state, pod),
    );
  }

  /** Name of the plugin that sorts the queue. */
  get queueSort(): string {
    return this.#queueSort.name;
  }

  /** Where the plugin fails, whoever was ready first goes first. */
  compare(a: QueueKey, b: QueueKey): number {
    let order: unknown;
    try {
      order = this.#queueSort.compare!(a, b);
    } catch (error) {
      this.#calls.failed('a plugin failed to sort the queue', this.#queueSort, error);
    }
    if (typeof order === 'number' && !Number.isNaN(order)) return order;
    return a.readySince - b.readySince || (a.uid < b.uid ? -1 : a.uid === b.uid ? 0 : 1);
  }

  /** How often plugins were asked, at the points where it is counted. */
  *calls(): Iterable<CallCount> {
    yield* this.#preFilterCalls.values();
    for (const { name, calls } of [...this.localFilters, ...this.otherFilters]) {
      yield { plugin: name, point: 'Filter', calls };
    }
    yield* this.#preScoreCalls.values();
    for (const { plugin, calls } of this.scorers) yield { plugin: plugin.name, point: 'Score', calls };
  }

  /** How often plugins were asked about a node. */
  get nodeCalls(): number {
    let sum = 0;
    for (const { calls } of this.localFilters) sum += calls;
    for (const { calls } of this.otherFilters) sum += calls;
    for (const { calls } of this.scorers) sum += calls;
    return sum;
  }

  /** When what is told to `ran` begins; NaN: it is not timed. */
  begin(): number {
    return this.#calls.begin();
  }

  /** For the points whose runs others put together of several calls: all plugins have been asked, from `begun` on. */
  ran(point: MeasuredPoint, outcome: Outcome, begun: number): void {
    this.#calls.ran(point, outcome, begun);
  }

  preEnqueue(candidate: Candidate): Status | undefined {
    const begun = this.begin();
    for (const plugin of this.#at.preEnqueue) {
      const status = this.#calls.call(plugin, 'PreEnqueue', () => readRefusal(plugin.preEnqueue!(candidate)));
      if (status === undefined) continue;
      this.ran('PreEnqueue', status.code, begun);
      return status.from(plugin.name);
    }
    this.ran('PreEnqueue', 'Success', begun);
    return undefined;
  }

  preFilter(state: CycleState, pod: Pod): PreFilterAnswer {
    return this.#preFilter(this.#at.preFilter, state, pod, undefined);
  }

  /** The part of PreFilter that speaks for all pods with equal signatures. */
  preFilterKind(state: CycleState, pod: Pod): PreFilterAnswer {
    return this.#preFilter(this.#sharedPreFilters, state, pod, undefined);
  }

  /**
   * The part of PreFilter that each pod is asked about, after `preFilterKind` for one with equal signatures: `state` is a fork of
   * that one's, `among` the nodes that it left.
   */
  preFilterEach(state: CycleState, pod: Pod, among: ReadonlySet<string> | undefined): PreFilterAnswer {
    return this.#preFilter(this.#ownPreFilters, state, pod, among);
  }

  /** PreFilter of the plugins that read other nodes alone; answers a refusal, also of this node. */
  preFilterOthers(state: CycleState, pod: Pod, nodeName: string): Status | undefined {
    const { status, ...answer } = this.#preFilter(this.#otherPreFilters, state, pod, undefined);
    if (status !== undefined || !('nodeNames' in answer)) return status;
    return answer.nodeNames?.has(nodeName) === false ? notPreselected : undefined;
  }

  /** Whether no plugin that reads other nodes has anything to say of the pod, wherever it is. */
  skipOthers(pod: Pod): boolean {
    if (this.otherFilters.length === 0) return true;
    const state = new CycleState();
    const { status } = this.#preFilter(this.#otherPreFilters, state, pod, undefined);
    return status === undefined && filtersFor(state, this.otherFilters).length === 0;
  }

  #preFilter(
    plugins: readonly Plugin[],
    state: CycleState,
    pod: Pod,
    among: ReadonlySet<string> | undefined,
  ): PreFilterAnswer {
    if (plugins.length === 0) return { status: undefined, nodeNames: among, mayChange: false };
    let nodeNames = among;
    let mayChange = false;
    const begun = this.#calls.beginOfMany();
    for (const plugin of plugins) {
      const answer = this.#calls.call(plugin, 'PreFilter', () => readPreFilterAnswer(plugin.preFilter!(state, pod)));
      const isSkipped = answer instanceof Status && answer.code === 'Skip';
      if (!isSkipped) this.#preFilterCalls.get(plugin)!.calls++;
      if (answer === undefined) continue;
      mayChange ||= plugin.readsOtherNodes === true && answer !== Status.skipThroughout;
      if (!(answer instanceof Status)) {
        const { nodeNames: more } = answer;
        nodeNames = nodeNames === undefined ? more : new Set([...more].filter((name) => nodeNames!.has(name)));
      } else if (isSkipped) {
        state.skipFilter(plugin.name);
      } else {
        this.ran('PreFilter', answer.code, begun);
        return { status: answer.from(plugin.name), mayChange };
      }
    }
    this.ran('PreFilter', 'Success', begun);
    return { status: undefined, nodeNames, mayChange };
  }

  /** Some plugin keeps what PreFilter computed up to date by AddPod. */
  get followsPlacements(): boolean {
    return this.#followers.length > 0;
  }

  /** `added` is now on `node`, as far as `pod` is concerned. Answers a failure. */
  addPod(state: CycleState, pod: Pod, added: Pod, node: NodeView): Status | undefined {
    for (const plugin of this.#followers) {
      if (state.skippedFilters.has(plugin.name)) continue;
      const status = guarded(plugin, 'AddPod', () => readRefusal(plugin.preFilterAddPod!(state, pod, added, node)));
      if (status !== undefined) return failureOf(plugin, 'AddPod', status);
    }
    return undefined;
  }

  /** Takes `addPod` back. Answers a failure. */
  removePod(state: CycleState, pod: Pod, removed: Pod, node: NodeView): Status | undefined {
    for (const plugin of this.#followers) {
      if (state.skippedFilters.has(plugin.name)) continue;
      const status = guarded(plugin, 'RemovePod', () =>
        readRefusal(plugin.preFilterRemovePod!(state, pod, removed, node)),
      );
      if (status !== undefined) return failureOf(plugin, 'RemovePod', status);
    }
    return undefined;
  }

  /** Runs the given filters on one node, but for those that PreFilter told to skip; the first refusal stands. */
  filter(filters: readonly FilterPlugin[], state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    return this.filterAll(filtersFor(state, filters), state, pod, node);
  }

  /** As `filter`, of filters that are all to be asked. The hot loop: allocates nothing. */
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
        return failureOf(plugin, 'Filter', error);
      }
      if (status !== undefined) return refusal(plugin, 'Filter', status);
    }
    return undefined;
  }

  /**
   * As `filterAll` of each of these nodes, of filters that all have a way to be asked about many at once: leaves those that pass at the
   * beginning and answers how many. A failure is answered as such.
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
        return failureOf(plugin, 'Filter', error);
      }
    }
    return left;
  }

  #timedFilter(plugin: Plugin, state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    const begun = this.begin();
    const status = plugin.filter!(state, pod, node);
    this.#calls.called(plugin, 'Filter', outcomeOf(status), begun);
    return status;
  }

  /** Throws what the plugin throws; what it answers may be anything. */
  score(scorer: ScorePlugin, state: CycleState, pod: Pod, node: NodeView): number {
    const { plugin } = scorer;
    scorer.calls++;
    if (!this.#calls.picksNodeCall()) return plugin.score!(state, pod, node);
    const begun = this.begin();
    const score = plugin.score!(state, pod, node);
    this.#calls.called(plugin, 'Score', 'Success', begun);
    return score;
  }

  /** `score` of many nodes at once, for a plugin that has a way to be asked so. Throws what the plugin throws. */
  scoreAll(
    scorer: ScorePlugin,
    state: CycleState,
    pod: Pod,
    indexes: Int32Array,
    size: number,
    scores: Float64Array,
  ): void {
    scorer.calls += size;
    scorer.plugin.scoreAll!(state, pod, indexes, size, scores);
  }

  preScore(state: CycleState, pod: Pod, feasible: () => readonly NodeView[]): Status | undefined {
    state.skipNoScores();
    return this.#preScore(this.#at.preScore, state, pod, feasible);
  }

  /** PreScore of the plugins that read other nodes alone: enough to know which of them skip the pod. */
  preScoreOthers(state: CycleState, pod: Pod, feasible: () => readonly NodeView[]): Status | undefined {
    return this.#preScore(this.#otherPreScorers, state, pod, feasible);
  }

  #preScore(
    plugins: readonly Plugin[],
    state: CycleState,
    pod: Pod,
    feasible: () => readonly NodeView[],
  ): Status | undefined {
    if (plugins.length === 0) return undefined;
    const begun = this.begin();
    for (const plugin of plugins) {
      const status = this.#calls.call(plugin, 'PreScore', () =>
        readRefusalOrSkip(plugin.preScore!(state, pod, feasible)),
      );
      if (status?.code !== 'Skip') this.#preScoreCalls.get(plugin)!.calls++;
      if (status === undefined) continue;
      if (status.code !== 'Skip') {
        this.ran('PreScore', status.code, begun);
        return status.from(plugin.name);
      }
      state.skipScore(plugin.name);
    }
    this.ran('PreScore', 'Success', begun);
    return undefined;
  }

  /** Sets of nodes of which one has to hold those of the members that some Filter ties to each other. Throws PluginFailure. */
  domainsFor(members: readonly Pod[]): readonly (readonly number[])[] {
    return this.otherFilters.flatMap(({ plugin }) => {
      if (plugin.domainsFor === undefined) return [];
      try {
        return plugin.domainsFor(members) ?? [];
      } catch (error) {
        throw new PluginFailure(failureOf(plugin, 'DomainsFor', error));
      }
    });
  }

  /** Some plugin may find a way to make room. */
  get hasPostFilter(): boolean {
    return this.#at.postFilter.length > 0;
  }

  /** The first answer; a Status when a plugin failed. */
  postFilter(candidate: Candidate, diagnosis: Diagnosis): PostFilterResult | Status | undefined {
    if (!this.hasPostFilter) return undefined;
    const begun = this.begin();
    for (const plugin of this.#at.postFilter) {
      const result = this.#calls.call(plugin, 'PostFilter', () =>
        readPostFilterAnswer(plugin.postFilter!(candidate, diagnosis)),
      );
      if (result === undefined) continue;
      this.ran('PostFilter', result instanceof Status ? result.code : 'Success', begun);
      return result;
    }
    // As in kube-scheduler: nobody has found a way.
    this.ran('PostFilter', 'Unschedulable', begun);
    return undefined;
  }

  reserve(state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    if (this.#at.reserve.length === 0) return undefined;
    const begun = this.#calls.beginOfMany();
    for (const plugin of this.#at.reserve) {
      const status = this.#calls.call(plugin, 'Reserve', () => readRefusal(plugin.reserve?.(state, pod, node)));
      if (status === undefined) continue;
      this.ran('Reserve', status.code, begun);
      return status.from(plugin.name);
    }
    this.ran('Reserve', 'Success', begun);
    return undefined;
  }

  /** In reverse plugin order. What a plugin throws here is logged: there is nothing left to undo. */
  unreserve(state: CycleState, pod: Pod, nodeName: string): void {
    if (this.#at.reserve.length === 0) return;
    const begun = this.#calls.beginOfMany();
    for (const plugin of this.#at.reserve.toReversed()) {
      this.#calls.inform(plugin, 'Unreserve', pod, () => plugin.unreserve?.(state, pod, nodeName));
    }
    this.ran('Unreserve', 'Success', begun);
  }

  /** Asks every Permit plugin, also when one already wants to wait. */
  permit(state: CycleState, pod: Pod, nodeName: string): PermitAnswer {
    const waits = new Map<string, number>();
    if (this.#at.permit.length === 0) return { status: undefined, waits };
    const begun = this.#calls.beginOfMany();
    for (const plugin of this.#at.permit) {
      const answer = this.#calls.call(plugin, 'Permit', () => readPermitAnswer(plugin.permit!(state, pod, nodeName)));
      if (answer === undefined) continue;
      if (answer instanceof Status) {
        this.ran('Permit', answer.code, begun);
        return { status: answer.from(plugin.name) };
      }
      waits.set(plugin.name, answer.waitMs);
    }
    this.ran('Permit', waits.size > 0 ? 'Wait' : 'Success', begun);
    return { status: undefined, waits };
  }

  /** Whether some plugin has work to do before the pod is bound. */
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

/** Those of the filters that PreFilter did not tell to skip the pod. */
export function filtersFor({ skippedFilters }: CycleState, filters: readonly FilterPlugin[]): readonly FilterPlugin[] {
  return skippedFilters.size === 0 ? filters : filters.filter(({ name }) => !skippedFilters.has(name));
}

function countersOf(plugins: readonly Plugin[], point: CountedPoint): ReadonlyMap<Plugin, CallCount> {
  return new Map(plugins.map((plugin) => [plugin, { plugin: plugin.name, point, calls: 0 }]));
}

/** After PreFilter it may write about one pod into what PreFilter made, so each needs one of its own. */
function notesLater(plugin: Plugin): boolean {
  return (['reserve', 'permit', 'preBind', 'bind', 'postBind'] as const).some((point) => plugin[point] !== undefined);
}

/** One that fails to say may. */
function dependsOnPlacements(plugin: Plugin, state: CycleState, pod: Pod): boolean {
  if (plugin.dependsOnPlacements === undefined) return true;
  try {
    // An answer of another type is none.
    return (plugin.dependsOnPlacements(state, pod) as unknown) !== false;
  } catch {
    return true;
  }
}

/** The refusal that the plugin answered, named. */
function refusal(plugin: Plugin, point: string, answer: unknown): Status {
  try {
    return readRefusal(answer)!.from(plugin.name);
  } catch (error) {
    return failureOf(plugin, point, error);
  }
}
