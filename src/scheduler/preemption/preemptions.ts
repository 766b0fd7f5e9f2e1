import type { Pod } from '../../api/pod.ts';
import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { Nomination } from '../../framework/dry-run.ts';
import { isRuledOut } from '../../framework/event-hints.ts';
import { namespaceOf } from '../../framework/names-for-users.ts';
import { preemptionLimitsOf } from '../../framework/preemption-limits.ts';
import { PluginFailure } from '../../framework/profile.ts';
import type { PostFilterAnswer, Profile } from '../../framework/profile.ts';
import { resourceDemandOf } from '../../framework/resource-demand.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import { Status } from '../../framework/status.ts';
import { entityKeyOf } from '../../queue/queued-entity.ts';
import type { EntityKey } from '../../queue/queued-entity.ts';
import type { PreemptionMetrics } from '../metrics/preemption-metrics.ts';
import type { NodeSubsetOf } from '../placement/cache/node-subset.ts';
import type { Demand } from '../placement/planning/demand.ts';
import { sortKeyOf } from '../sort-key.ts';
import { deadlineFor } from './ongoing-preemption.ts';
import type { Moment } from './ongoing-preemption.ts';
import { OngoingPreemptions } from './ongoing-preemptions.ts';
import type { OngoingPreemptionsOptions } from './ongoing-preemptions.ts';
import { PreemptionCheck } from './preemption-check.ts';
import { beneficiaryOf, nameOf, timeOf, waitingFor } from './preemption-texts.ts';
import { ProtectionEnds } from './protection-ends.ts';
import { nominationsOfEarlierProcess } from './recovered-nominations.ts';
import type { VictimSearch } from './search/victim-search.ts';
import type { VictimSearchRequest } from './search/victim-search-request.ts';

export interface PreemptionsOptions extends OngoingPreemptionsOptions {
  readonly victimSearch: VictimSearch;
  readonly metrics: Pick<PreemptionMetrics, 'ended' | 'postFilterCalled' | 'preempted'>;
  /** Returns the uids of the terminating members whose capacity will be reserved for replacements against pods of this priority. */
  readonly memberLosses: { keptMembers(groupKey: string, priority: number): ReadonlySet<string> };
  /** Returns the names of the nodes where the pod could not be bound. */
  readonly rejections: { avoidedBy(pod: Pod): readonly string[]; readonly isEmpty: boolean };
}

/** An entity that does not fit. */
export interface RejectedEntity {
  readonly profile: Profile;
  readonly schedulingEntity: SchedulingEntity;
  readonly demand: Demand;
  readonly diagnosis: Diagnosis;
  /** Returns the nodes that a member may use. Undefined: all. */
  readonly nodeSubsetOf: NodeSubsetOf | undefined;
}

/** The result of PostFilter for an entity that does not fit. */
export interface Preemption {
  /** A sentence of the verdict. */
  readonly message: string;
  /** The part of the message that PostFilter wrote. Absent: all of it. */
  readonly proposal?: string;
  /** Nominations for all members that the entity still needs; empty if nothing is preempted. */
  readonly nominations: readonly Nomination[];
  /** Pods that must leave. Those that terminate already are only awaited. */
  readonly victims: readonly Pod[];
  /** Pods that must leave too, and are about to be evicted for others. */
  readonly awaited: readonly Pod[];
  /** True while the entity waits for the victims of an earlier preemption, so that it will fit. */
  readonly isWaiting?: boolean;
  /** True if the plugin preempts nothing, which holds for the whole equivalence class. */
  readonly isShared: boolean;
  /** Names of the plugins whose registered events may change the result. */
  readonly unschedulablePlugins?: readonly string[];
}

/** Returns whether the entity waits for victims, and will fit once they are gone. */
export function waitsForVictims(preemption: Preemption | undefined): boolean {
  return preemption !== undefined && (preemption.nominations.length > 0 || preemption.isWaiting === true);
}

/** What a plugin proposes, before it is validated. */
interface Proposed {
  readonly plugin: string;
  readonly message: string;
  readonly nominations: readonly Nomination[];
  readonly victims: readonly Pod[];
  readonly awaited: readonly Pod[];
  /** Names of the plugins whose registered events may change the result. */
  readonly unschedulablePlugins: readonly string[];
  /** True if the entity must wait before it may preempt. */
  readonly isDelayed?: boolean;
}

/** Maximum number of pods to name in a log line. */
const loggedPods = 10;
const none: ReadonlySet<string> = new Set();
/** A result that preempts nothing, for one entity. */
const nothing = { nominations: [], victims: [], awaited: [], isShared: false } as const;

/**
 * Carries out the preemption that PostFilter proposes, but only if the whole entity then fits. First all its capacity is reserved, then all
 * victims are marked, then all are evicted. Victims must have a lower priority, and no group may keep fewer members than its quorum.
 *
 * An entity has at most one preemption at a time, and PostFilter is not called for it meanwhile. The preemption ends as a whole: see
 * `PreemptionResult`. The entity is tried again when its last victim has left, or the last one on its nodes. After a preemption that failed,
 * it must pause before the next one, but its ordinary attempts continue.
 */
export class Preemptions {
  readonly #options: PreemptionsOptions;
  readonly #check: PreemptionCheck;
  readonly #ongoing: OngoingPreemptions;
  readonly #protectionEnds: ProtectionEnds;

  constructor(options: PreemptionsOptions) {
    this.#options = options;
    const { turnsIgnoredBy, intake } = options;
    const { cluster, dryRuns } = intake;
    const ongoing = new OngoingPreemptions(options);
    this.#ongoing = ongoing;
    this.#protectionEnds = new ProtectionEnds(intake);
    this.#check = new PreemptionCheck({
      cluster,
      dryRuns,
      turnsIgnoredBy,
      isStuck: (pod) => ongoing.isStuck(pod),
      promisedTo: (uid) => ongoing.promisedTo(uid),
    });
  }

  /** Number of preemptions that wait for their victims. */
  get inFlight(): number {
    return this.#ongoing.count;
  }

  /** True while the marks of an earlier process are settled. Nothing may be bound until then. */
  get isSettling(): boolean {
    return this.#ongoing.victims.isSettling;
  }

  /** Continues or undoes what an earlier process has left. Calls `settled` once pods may be bound. */
  begin(settled: () => void): void {
    const { intake } = this.#options;
    const { cluster, verdicts } = intake;
    const { whole, stale } = nominationsOfEarlierProcess(intake);
    for (const { pod, nodeName } of [...whole.flatMap(({ nominations }) => nominations), ...stale])
      cluster.ownNominations.add(pod.uid, nodeName);
    for (const { schedulingEntity, nominations, victims } of whole) {
      const message = 'A preemption continues.';
      const limits = preemptionLimitsOf(intake.profiles.of(schedulingEntity));
      const deadline = deadlineFor([], limits, this.#now);
      const started = { message, nominations, victims, awaited: [], deadline, isRecovered: true };
      this.#ongoing.start(schedulingEntity, started);
    }
    for (const { pod } of stale) cluster.endReservation(pod.uid);
    verdicts.nominationsEnded(stale.map(({ pod }) => pod));
    this.#ongoing.victims.begin(settled);
  }

  /**
   * Calls the PostFilter plugins until one helps. Searches for victims if a plugin returns a policy, and validates the result; `carryOut` must
   * follow. If none helps, the message consists of theirs. Undefined if no plugin has a message. Runs in steps.
   */
  *ask(rejected: RejectedEntity, budget: WorkBudget): Yielding<Preemption | undefined> {
    const { profile, schedulingEntity, diagnosis } = rejected;
    const earlier = this.#earlier(schedulingEntity);
    if (earlier !== undefined) return { ...nothing, ...earlier };
    if (profile.postFilters.length > 0) this.#options.metrics.postFilterCalled();
    const messages: string[] = [];
    const unschedulablePlugins = new Set<string>();
    let isShared = true;
    for (const answer of profile.postFilter(schedulingEntity, diagnosis)) {
      const result = answer instanceof Status ? answer : yield* this.#resultOf(rejected, answer, budget);
      if (result instanceof Status) {
        this.#options.logger.error('PostFilter failed', { entity: nameOf(schedulingEntity), error: result.cause });
        return { ...nothing, message: `${result.message}.` };
      }
      if (result.nominations.length > 0 || result.victims.length > 0) {
        return yield* this.#validated(rejected, result, budget);
      }
      if (result.message !== '') messages.push(result.message);
      for (const plugin of result.unschedulablePlugins) unschedulablePlugins.add(plugin);
      isShared &&= result.isDelayed !== true;
    }
    if (messages.length === 0) return undefined;
    const message = messages.join(' ');
    return { ...nothing, message, isShared, unschedulablePlugins: [...unschedulablePlugins] };
  }

  /** Returns what the plugin proposes, after a search for victims if it has returned a policy; a Status if its policy fails. */
  *#resultOf(
    { profile, schedulingEntity, demand, nodeSubsetOf }: RejectedEntity,
    { plugin, result }: PostFilterAnswer,
    budget: WorkBudget,
  ): Yielding<Proposed | Status> {
    const { policy } = result;
    if (policy === undefined) {
      const { message, nominations = [], victims = [], eventsMayHelp = false } = result;
      return {
        plugin,
        message,
        nominations,
        victims,
        awaited: [],
        unschedulablePlugins: eventsMayHelp ? [plugin] : [],
      };
    }
    const mayHelp = (): boolean => {
      const its = profile.postFilters.find(({ name }) => name === plugin)!;
      return its.rulesOut === undefined || !isRuledOut(its, resourceDemandOf(demand.members, demand.needed));
    };
    if (!this.#ongoing.mayBegin(schedulingEntity, preemptionLimitsOf(profile).delayMs, mayHelp)) {
      const message = this.#pauseOf(schedulingEntity)!;
      return { plugin, message, nominations: [], victims: [], awaited: [], unschedulablePlugins: [], isDelayed: true };
    }
    const ignoresReservationOf = this.#options.turnsIgnoredBy(entityKeyOf(schedulingEntity));
    const earlier = this.#earlierOf(schedulingEntity);
    const request = { profile, demand, policy, nodeSubsetOf, ignoresReservationOf, earlier };
    try {
      const { outcome, protectedUntil, ...found } = yield* this.#options.victimSearch.steps(request, budget);
      this.#protectionEnds.note(protectedUntil);
      const message = policy.describe(outcome, schedulingEntity.kind, namespaceOf(schedulingEntity));
      return { ...found, plugin, message, unschedulablePlugins: [plugin, ...found.unschedulablePlugins] };
    } catch (error) {
      if (error instanceof PluginFailure) return error.status;
      throw error;
    }
  }

  /** Returns the preemption that is proposed, or why it is none. */
  *#validated(
    { profile, schedulingEntity, demand }: RejectedEntity,
    { plugin, message, nominations, victims: all, awaited, unschedulablePlugins }: Proposed,
    budget: WorkBudget,
  ): Yielding<Preemption> {
    // Deduplicate victims.
    const victims = [...new Map(all.map((pod) => [pod.uid, pod])).values()];
    const proposal = { nominations, victims, awaited };
    const problem = yield* this.#check.problemOf(profile, schedulingEntity, demand, proposal, budget);
    if (problem === undefined) {
      const leaving = [...victims, ...awaited];
      const until = deadlineFor(leaving, preemptionLimitsOf(profile), this.#now);
      const whole = `${message} ${waitingFor(leaving.length, leaving.length, until.now)}`;
      return { ...proposal, message: whole, proposal: message, isShared: false, unschedulablePlugins };
    }
    const entity = nameOf(schedulingEntity);
    this.#options.logger.warn('PostFilter plugin returned invalid victims or nominations', {
      ...{ entity, problem },
      victims: victims.slice(0, loggedPods).map((pod) => pod.key),
      nominations: nominations.slice(0, loggedPods).map(({ pod, nodeName }) => `${pod.key} on ${nodeName}`),
    });
    // What it proposes may become valid, for example when another preemption ends.
    return { ...nothing, message: `No pod is preempted: ${problem}.`, unschedulablePlugins: [plugin] };
  }

  #earlierOf(schedulingEntity: SchedulingEntity): VictimSearchRequest['earlier'] {
    const { priority } = sortKeyOf(schedulingEntity, 0);
    /** group key -> its members that keep their capacity */
    const kept = new Map<string, ReadonlySet<string>>();
    const keptOf = (key: string): ReadonlySet<string> => {
      const uids = kept.get(key) ?? this.#options.memberLosses.keptMembers(key, priority);
      kept.set(key, uids);
      return uids;
    };
    return {
      isStuck: (pod) => this.isStuck(pod),
      keepsCapacity: ({ uid, podGroupKey }) => podGroupKey !== undefined && keptOf(podGroupKey).has(uid),
      leaving: this.#ongoing.promisedAtLeast(priority),
    };
  }

  carryOut(schedulingEntity: SchedulingEntity, preemption: Preemption): void {
    const { message: whole, proposal: message = whole, nominations, victims, awaited } = preemption;
    if (nominations.length === 0) return;
    if (victims.length > 0) this.#options.metrics.preempted(victims.length);
    const limits = preemptionLimitsOf(this.#options.intake.profiles.of(schedulingEntity));
    const deadline = deadlineFor([...victims, ...awaited], limits, this.#now);
    const started = { message, nominations, victims, awaited, deadline, isRecovered: false };
    void this.#ongoing.carryOut(this.#ongoing.start(schedulingEntity, started));
  }

  /** The entity was planned: all these members are assumed on their nodes. */
  committed(key: EntityKey, schedulingEntity: SchedulingEntity, assignments: readonly Nomination[]): void {
    if (this.#ongoing.count === 0) return;
    const own = this.#ongoing.of(key);
    if (own !== undefined) {
      const nodeOf = new Map(own.plan.nominations.map(({ pod, nodeName }) => [pod.uid, nodeName]));
      const isAsPlanned = assignments.every(({ pod, nodeName }) => nodeOf.get(pod.uid) === nodeName);
      if (!isAsPlanned || !own.isFreed) this.#ongoing.end(own, { outcome: 'elsewhere' });
    }
    const priority = Math.min(...assignments.map(({ pod }) => pod.priority));
    this.#ongoing.displace(assignments, key, (namespace) => beneficiaryOf(schedulingEntity, priority, namespace));
  }

  /** Returns the uids of the pods whose end must not wake the entity, because it waits for the last of them. Undefined: it waits for none. */
  awaitedBy(key: EntityKey): ReadonlySet<string> | undefined {
    const ongoing = this.#ongoing.of(key);
    return ongoing?.mayFitEarlier === true ? none : ongoing?.victimUids;
  }

  /** Returns whether the entity waits for victims, so that it will have their capacity. */
  isWaiting(key: EntityKey): boolean {
    return this.#ongoing.of(key)?.isAlone === false;
  }

  /**
   * Returns whether earlier preemptions decide about one of the entity: they go on, their victims have not left yet or have not lost their marks,
   * or one for the entity has failed.
   */
  hasHistory(schedulingEntity: SchedulingEntity): boolean {
    const { count, history, victims } = this.#ongoing;
    return count > 0 || [...victims.uids].length > 0 || history.of(schedulingEntity) !== undefined;
  }

  /** Returns whether the pod did not terminate in time. No entity must choose it, or wait for it. */
  isStuck(pod: Pod): boolean {
    return this.#ongoing.isStuck(pod);
  }

  /** Returns the highest priority for which the pod is being evicted; undefined: it is not. Others of equal or lower priority must not choose it. */
  promisedTo(uid: string): number | undefined {
    return this.#ongoing.promisedTo(uid);
  }

  /** Number of victims that are still there although their preemption has ended. */
  get stuckVictims(): number {
    return this.#ongoing.stuckVictims;
  }

  stop(): void {
    this.#ongoing.stop();
    this.#protectionEnds.stop();
  }

  /** Returns what the verdict must say because of an earlier preemption, if no other may begin now. */
  #earlier(schedulingEntity: SchedulingEntity): Pick<Preemption, 'message' | 'isWaiting'> | undefined {
    const { rejections } = this.#options;
    const key = entityKeyOf(schedulingEntity);
    const ongoing = this.#ongoing.of(key);
    if (ongoing !== undefined) {
      const isAvoided = ({ pod, nodeName }: Nomination): boolean => rejections.avoidedBy(pod).includes(nodeName);
      const avoided = rejections.isEmpty ? undefined : ongoing.plan.nominations.find(isAvoided);
      if (avoided !== undefined) {
        this.#ongoing.end(ongoing, {
          outcome: 'abandoned',
          note: `a node rejects ${avoided.pod.name}`,
        });
      } else if (!ongoing.isAlone || this.#ongoing.waitsForOthers(ongoing)) {
        ongoing.mayFitEarlier = true;
        const { message, victimUids, waitingUids, deadline } = ongoing;
        const sentence = waitingFor(waitingUids.size, victimUids.size, deadline.now);
        return { message: `${message} ${sentence}`, isWaiting: true };
      } else {
        const note = 'the victims are gone, but the reserved capacity is no longer sufficient';
        this.#ongoing.end(ongoing, { outcome: 'abandoned', note, isFailure: !ongoing.isRecovered });
      }
    }
    const message = this.#ongoing.history.hasFailed(schedulingEntity) ? this.#pauseOf(schedulingEntity) : undefined;
    return message === undefined ? undefined : { message };
  }

  /** Returns what the verdict must say if the entity may not preempt now, because of an earlier failure or a delay. */
  #pauseOf(schedulingEntity: SchedulingEntity): string | undefined {
    const { clock } = this.#options.intake;
    const failure = this.#ongoing.history.of(schedulingEntity);
    const pauseMs = (failure?.notBefore ?? 0) - clock.monotonic();
    if (failure === undefined || pauseMs <= 0) return undefined;
    const until = timeOf(clock.now() + pauseMs);
    const note =
      failure.times === 0
        ? `preemption: ${failure.note}; not before ${until}.`
        : `preemption: ${failure.note}; next try not before ${until}.`;
    return note;
  }

  get #now(): Moment {
    const { clock } = this.#options.intake;
    return { monotonic: clock.monotonic(), now: clock.now() };
  }
}
