import type { Pod } from '../api/pod.ts';
import type { NodeView } from '../cluster/node-info.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { CycleState } from './cycle-state.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { Candidate, QueueKey } from './candidate.ts';
import { makePlugins } from './make-plugins.ts';
import type { MadePlugins, ProfilePlugins } from './make-plugins.ts';
import {
  describeThrown,
  readPermitAnswer,
  readPostFilterAnswer,
  readPreFilterAnswer,
  readRefusal,
  readRefusalOrSkip,
  readSignature,
} from './plugin-answers.ts';
import { failureOf } from './plugin-failure.ts';
import type { Plugin, PostFilterResult } from './plugin.ts';
import { ProfileError } from './profile-error.ts';
import { Status } from './status.ts';
import { withinDeadline } from './within-deadline.ts';

export type { EnabledPlugin } from './enabled-plugin.ts';
export type { PluginRegistry } from './make-plugins.ts';
export { ProfileError } from './profile-error.ts';

export interface ScorePlugin {
  readonly plugin: Plugin;
  readonly weight: number;
}

/** What makes pods alike to the plugins of a profile; undefined: nothing that could be reused. */
export interface PodSignatures {
  /** For those that read one node at a time: equal texts share their answers about nodes. */
  readonly local: string | undefined;
  /**
   * For those that read other nodes, together with `local`: equal texts share what PreFilter computed, along a plan. Undefined
   * also where such a plugin cannot keep that up to date.
   */
  readonly others: string | undefined;
  /** Both in one: pods with equal texts are alike to all of them. Undefined where one of the two is. */
  readonly whole: string | undefined;
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

/** A plugin failed where no Status can be answered; `status` names it. */
export class PluginFailure extends Error {
  override readonly name = 'PluginFailure';
  readonly status: Status;

  constructor(status: Status) {
    super(status.message, { cause: status.cause });
    this.status = status;
  }
}

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
  readonly localFilters: readonly Plugin[];
  /** Filters that read other nodes or pods, in order. */
  readonly otherFilters: readonly Plugin[];
  readonly scorers: readonly ScorePlugin[];
  /** Name of the plugin that decides what a gang is; undefined: members of groups are lone pods. */
  readonly gangPolicy: string | undefined;
  /** Some plugin besides the gang policy judges pods by what it does not sign: pods that are alike may fare differently. */
  readonly judgesUnsigned: boolean;
  readonly #localSigners: readonly Plugin[];
  readonly #otherSigners: readonly Plugin[];
  /** What their PreFilters compute is brought up to date after a placement, not computed again. */
  readonly #othersKeepUp: boolean;
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
  readonly #clock: Clock;
  readonly #logger: Logger;

  /** Throws ProfileError. */
  constructor(options: ProfilePlugins) {
    const { plugins, at, weights } = makePlugins(options);
    this.schedulerName = options.schedulerName;
    this.#clock = options.handle.clock;
    this.#logger = options.handle.logger;
    this.plugins = plugins;
    this.#at = at;
    this.scorers = at.score.map((plugin) => ({ plugin, weight: weights.get(plugin)! }));
    this.localFilters = at.filter.filter((plugin) => plugin.readsOtherNodes !== true);
    this.otherFilters = at.filter.filter((plugin) => plugin.readsOtherNodes === true);
    this.gangPolicy = plugins.find((plugin) => plugin.decidesGangs === true)?.name;
    this.judgesUnsigned = plugins.some(
      (plugin) =>
        plugin.name !== this.gangPolicy &&
        plugin.sign === undefined &&
        (at.preFilter.includes(plugin) || (plugin.reserve !== undefined && at.reserve.includes(plugin))),
    );
    const judges = plugins.filter((plugin) => at.filter.includes(plugin) || at.score.includes(plugin));
    const signs = (plugin: Plugin): boolean =>
      judges.includes(plugin) || (at.preFilter.includes(plugin) && plugin.sign !== undefined);
    this.#localSigners = plugins.filter((plugin) => plugin.readsOtherNodes !== true && signs(plugin));
    this.#otherSigners = plugins.filter((plugin) => plugin.readsOtherNodes === true && signs(plugin));
    this.#othersKeepUp = this.#otherSigners.every((plugin) => !at.preFilter.includes(plugin) || follows(plugin));
    const isSigned = (plugin: Plugin): boolean => plugin.sign !== undefined || judges.includes(plugin);
    this.#sharedPreFilters = at.preFilter.filter(isSigned);
    this.#ownPreFilters = at.preFilter.filter((plugin) => !isSigned(plugin) || notesLater(plugin));
    this.#otherPreFilters = at.preFilter.filter((plugin) => this.#otherSigners.includes(plugin));
    this.#otherScorers = at.score.filter((plugin) => plugin.readsOtherNodes === true);
    this.#otherPreScorers = at.preScore.filter((plugin) => plugin.readsOtherNodes === true);
    this.#followers = at.preFilter.filter(follows);
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
    const local = signature(this.#localSigners, pod);
    const others = this.#othersKeepUp ? signature(this.#otherSigners, pod) : undefined;
    const whole = local === undefined || others === undefined ? undefined : `${others}${local}`;
    return { local, others, whole };
  }

  /** Once PreFilter has run: does a Filter that did not skip this pod read other nodes? */
  filtersByOthers({ skippedFilters }: CycleState): boolean {
    return this.otherFilters.some(({ name }) => !skippedFilters.has(name));
  }

  /**
   * Once PreFilter and PreScore have run: does a Filter or Score that did not skip this pod read other nodes? Then what it
   * answers changes with every placement.
   */
  readsOthers(state: CycleState): boolean {
    return this.filtersByOthers(state) || this.#otherScorers.some(({ name }) => !state.skippedScores.has(name));
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
      this.#logger.error('a plugin failed to sort the queue', { plugin: this.#queueSort.name, error });
    }
    if (typeof order === 'number' && !Number.isNaN(order)) return order;
    return a.readySince - b.readySince || (a.uid < b.uid ? -1 : a.uid === b.uid ? 0 : 1);
  }

  preEnqueue(candidate: Candidate): Status | undefined {
    for (const plugin of this.#at.preEnqueue) {
      const status = guarded(plugin, 'PreEnqueue', () => readRefusal(plugin.preEnqueue!(candidate)));
      if (status !== undefined) return status.from(plugin.name);
    }
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

  #preFilter(
    plugins: readonly Plugin[],
    state: CycleState,
    pod: Pod,
    among: ReadonlySet<string> | undefined,
  ): PreFilterAnswer {
    let nodeNames = among;
    let mayChange = false;
    for (const plugin of plugins) {
      const answer = guarded(plugin, 'PreFilter', () => readPreFilterAnswer(plugin.preFilter!(state, pod)));
      if (answer === undefined) continue;
      mayChange ||= plugin.readsOtherNodes === true;
      if (!(answer instanceof Status)) {
        const { nodeNames: more } = answer;
        nodeNames = nodeNames === undefined ? more : new Set([...more].filter((name) => nodeNames!.has(name)));
      } else if (answer.code === 'Skip') {
        state.skippedFilters.add(plugin.name);
      } else {
        return { status: answer.from(plugin.name), mayChange };
      }
    }
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

  /** Runs the given filters on one node; the first refusal stands. The hot loop: allocates nothing. */
  filter(filters: readonly Plugin[], state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    const skips = state.skippedFilters.size > 0;
    for (let i = 0; i < filters.length; i++) {
      const plugin = filters[i]!;
      if (skips && state.skippedFilters.has(plugin.name)) continue;
      let status: Status | undefined;
      try {
        status = plugin.filter!(state, pod, node);
      } catch (error) {
        return failureOf(plugin, 'Filter', error);
      }
      if (status !== undefined) return refusal(plugin, 'Filter', status);
    }
    return undefined;
  }

  preScore(state: CycleState, pod: Pod, feasible: () => readonly NodeView[]): Status | undefined {
    state.skippedScores.clear();
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
    for (const plugin of plugins) {
      const status = guarded(plugin, 'PreScore', () => readRefusalOrSkip(plugin.preScore!(state, pod, feasible)));
      if (status === undefined) continue;
      if (status.code !== 'Skip') return status.from(plugin.name);
      state.skippedScores.add(plugin.name);
    }
    return undefined;
  }

  /** The first answer; a Status when a plugin failed. */
  postFilter(candidate: Candidate, diagnosis: Diagnosis): PostFilterResult | Status | undefined {
    for (const plugin of this.#at.postFilter) {
      const result = guarded(plugin, 'PostFilter', () =>
        readPostFilterAnswer(plugin.postFilter!(candidate, diagnosis)),
      );
      if (result !== undefined) return result;
    }
    return undefined;
  }

  reserve(state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    for (const plugin of this.#at.reserve) {
      const status = guarded(plugin, 'Reserve', () => readRefusal(plugin.reserve?.(state, pod, node)));
      if (status !== undefined) return status.from(plugin.name);
    }
    return undefined;
  }

  /** In reverse plugin order. What a plugin throws here is logged: there is nothing left to undo. */
  unreserve(state: CycleState, pod: Pod, nodeName: string): void {
    for (const plugin of this.#at.reserve.toReversed()) {
      this.#inform(plugin, 'Unreserve', pod, () => plugin.unreserve?.(state, pod, nodeName));
    }
  }

  /** Asks every Permit plugin, also when one already wants to wait. */
  permit(state: CycleState, pod: Pod, nodeName: string): PermitAnswer {
    const waits = new Map<string, number>();
    for (const plugin of this.#at.permit) {
      const answer = guarded(plugin, 'Permit', () => readPermitAnswer(plugin.permit!(state, pod, nodeName)));
      if (answer === undefined) continue;
      if (answer instanceof Status) return { status: answer.from(plugin.name) };
      waits.set(plugin.name, answer.waitMs);
    }
    return { status: undefined, waits };
  }

  /** Some plugin has work to do before the pod is bound. */
  get hasPreBind(): boolean {
    return this.#at.preBind.length > 0;
  }

  async preBind(state: CycleState, pod: Pod, nodeName: string, signal: AbortSignal): Promise<Status | undefined> {
    for (const plugin of this.#at.preBind) {
      // Its own, so that it learns that it took too long.
      const late = new AbortController();
      const either = AbortSignal.any([signal, late.signal]);
      const run = (): Promise<Status | undefined> => plugin.preBind!(state, pod, nodeName, either);
      const status = await this.#guardedAsync(plugin, 'PreBind', run, (error) => late.abort(error));
      if (status !== undefined && status.code !== 'Skip') return status.from(plugin.name);
    }
    return undefined;
  }

  async bind(state: CycleState, pod: Pod, nodeName: string, signal: AbortSignal): Promise<Status | undefined> {
    for (const plugin of this.#at.bind) {
      const status = await this.#guardedAsync(plugin, 'Bind', () => plugin.bind!(state, pod, nodeName, signal));
      if (status?.code !== 'Skip') return status?.from(plugin.name);
    }
    return new Status('Error', 'every Bind plugin skipped the pod');
  }

  postBind(state: CycleState, pod: Pod, nodeName: string): void {
    for (const plugin of this.#at.postBind) {
      this.#inform(plugin, 'PostBind', pod, () => plugin.postBind?.(state, pod, nodeName));
    }
  }

  /** A point that nothing depends on: what goes wrong is logged. It may be async, and is not waited for. */
  #inform(plugin: Plugin, point: string, pod: Pod, run: () => unknown): void {
    const fail = (error: unknown): void =>
      this.#logger.warn('a plugin failed', { plugin: plugin.name, point, pod: pod.key, error: describeThrown(error) });
    try {
      const answer = run();
      if (answer instanceof Promise) answer.catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  async #guardedAsync(
    plugin: Plugin,
    point: string,
    run: () => Promise<Status | undefined>,
    onLate?: (error: Error) => void,
  ): Promise<Status | undefined> {
    try {
      return readRefusalOrSkip(await withinDeadline(this.#clock, run, onLate));
    } catch (error) {
      return failureOf(plugin, point, error);
    }
  }
}

/** It keeps what PreFilter computed up to date; a half of it would drift. */
function follows(plugin: Plugin): boolean {
  return plugin.preFilterAddPod !== undefined && plugin.preFilterRemovePod !== undefined;
}

/** After PreFilter it may write about one pod into what PreFilter made, so each needs one of its own. */
function notesLater(plugin: Plugin): boolean {
  return (['reserve', 'permit', 'preBind', 'bind', 'postBind'] as const).some((point) => plugin[point] !== undefined);
}

/** Undefined when one of them cannot sign the pod. Throws PluginFailure. */
function signature(signers: readonly Plugin[], pod: Pod): string | undefined {
  let text = '';
  for (const plugin of signers) {
    const fragment = guarded(plugin, 'Sign', () => readSignature(plugin.sign?.(pod)));
    if (fragment instanceof Status) throw new PluginFailure(fragment);
    if (fragment === undefined) return undefined;
    text += fragment + '\u0000';
  }
  return text;
}

/** The refusal that the plugin answered, named. */
function refusal(plugin: Plugin, point: string, answer: unknown): Status {
  try {
    return readRefusal(answer)!.from(plugin.name);
  } catch (error) {
    return failureOf(plugin, point, error);
  }
}

function guarded<T>(plugin: Plugin, point: string, run: () => T): T | Status {
  try {
    return run();
  } catch (error) {
    return failureOf(plugin, point, error);
  }
}
