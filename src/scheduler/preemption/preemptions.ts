import type { Pod } from '../../api/pod.ts';
import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { Nomination } from '../../framework/dry-run.ts';
import { isRuledOut } from '../../framework/event-hints.ts';
import type { PostFilterResult } from '../../framework/plugin.ts';
import { preemptionLimitsOf } from '../../framework/preemption-limits.ts';
import type { Profile } from '../../framework/profile.ts';
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
  /** True while the entity waits for the victims of an earlier preemption, so that it will fit. */
  readonly isWaiting?: boolean;
  /** True if the plugin preempts nothing, which holds for the whole equivalence class. */
  readonly isShared: boolean;
  /** Names of the plugins whose registered events may change the result. */
  readonly unschedulablePlugins?: readonly string[];
}

/** A result that preempts nothing, for one entity. */
const nothing = { nominations: [], victims: [], isShared: false } as const;

/**
 * Carries out the preemption that PostFilter proposes, but only if the whole entity then fits. First all its capacity is reserved, then all
 * victims are marked, then all are evicted. Victims must have a lower priority, and no group may keep fewer members than its quorum.
 *
 * An entity has at most one preemption at a time, and PostFilter is not called for it meanwhile. The preemption ends as a whole: see
 * `PreemptionResult`. The entity is tried again when its last victim has left. After a preemption that failed, it must pause before the
 * next one, but its ordinary attempts continue.
 */
export class Preemptions {
  readonly #options: PreemptionsOptions;
  readonly #check: PreemptionCheck;
  readonly #ongoing: OngoingPreemptions;
  readonly #protectionEnds: ProtectionEnds;

  constructor(options: PreemptionsOptions) {
    this.#options = options;
    const { cluster, dryRuns } = options.intake;
    const ongoing = new OngoingPreemptions(options);
    this.#ongoing = ongoing;
    this.#protectionEnds = new ProtectionEnds(options.intake);
    this.#check = new PreemptionCheck({
      cluster,
      dryRuns,
      isStuck: (schedulingEntity, uid) => ongoing.history.stuckFor(schedulingEntity).has(uid),
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
      const started = { message, nominations, victims, deadline, isRecovered: true };
      this.#ongoing.start(schedulingEntity, started);
    }
    for (const { pod } of stale) cluster.endReservation(pod.uid);
    verdicts.nominationsEnded(stale.map(({ pod }) => pod));
    this.#ongoing.victims.begin(settled);
  }

  /**
   * Calls PostFilter, searches for victims if it returns a policy, and validates the result; `carryOut` must follow. Undefined if PostFilter
   * has no result. Runs in steps.
   */
  *ask(rejected: RejectedEntity, budget: WorkBudget): Yielding<Preemption | undefined> {
    const { profile, schedulingEntity, demand, diagnosis, nodeSubsetOf } = rejected;
    const earlier = this.#earlier(schedulingEntity);
    if (earlier !== undefined) return { ...nothing, ...earlier };
    if (profile.postFilters.length > 0) this.#options.metrics.postFilterCalled();
    const answer = profile.postFilter(schedulingEntity, diagnosis);
    if (answer === undefined) return undefined;
    if (answer instanceof Status) {
      this.#options.logger.error('PostFilter failed', { entity: nameOf(schedulingEntity), error: answer.cause });
      return { ...nothing, message: `${answer.message}.` };
    }
    const { policy } = answer.result;
    const limits = preemptionLimitsOf(profile);
    const mayHelp = (): boolean => {
      const plugin = profile.postFilters.find(({ name }) => name === answer.plugin);
      return plugin?.rulesOut === undefined || !isRuledOut(plugin, resourceDemandOf(demand.members, demand.needed));
    };
    if (policy !== undefined && !this.#ongoing.mayBegin(schedulingEntity, limits.delayMs, mayHelp))
      return { ...nothing, message: this.#pauseOf(schedulingEntity)! };
    const searched =
      policy &&
      (yield* this.#search(
        schedulingEntity,
        { profile, demand, policy, nodeSubsetOf, earlier: this.#earlierOf(schedulingEntity) },
        budget,
      ));
    const result = searched?.result ?? answer.result;
    const { message, nominations = [], eventsMayHelp = false } = result;
    const unschedulablePlugins = eventsMayHelp ? [answer.plugin, ...(searched?.unschedulablePlugins ?? [])] : [];
    // Deduplicate victims.
    const victims = [...new Map((result.victims ?? []).map((pod) => [pod.uid, pod])).values()];
    if (nominations.length === 0 && victims.length === 0) {
      const isShared = this.stuckFor(schedulingEntity).size === 0;
      return { message, nominations, victims, isShared, unschedulablePlugins };
    }
    const proposal = { nominations, victims };
    const problem = yield* this.#check.problemOf(profile, schedulingEntity, demand, proposal, budget);
    if (problem === undefined) {
      const until = deadlineFor(victims, limits, this.#now);
      const whole = `${message} ${waitingFor(victims.length, victims.length, until.now)}`;
      return { message: whole, proposal: message, nominations, victims, isShared: false, unschedulablePlugins };
    }
    const entity = nameOf(schedulingEntity);
    this.#options.logger.warn('PostFilter plugin returned invalid victims or nominations', { entity, problem });
    // What it proposes may become valid, for example when another preemption ends.
    return { ...nothing, message: `No pod is preempted: ${problem}.`, unschedulablePlugins: [answer.plugin] };
  }

  *#search(
    schedulingEntity: SchedulingEntity,
    request: VictimSearchRequest,
    budget: WorkBudget,
  ): Yielding<{ readonly result: PostFilterResult; readonly unschedulablePlugins: ReadonlySet<string> }> {
    const found = yield* this.#options.victimSearch.steps(request, budget);
    const { outcome, nominations, victims, protectedUntil, unschedulablePlugins } = found;
    this.#protectionEnds.note(protectedUntil);
    const message = request.policy.describe(outcome, schedulingEntity.kind);
    return { result: { message, nominations, victims, eventsMayHelp: true }, unschedulablePlugins };
  }

  #earlierOf(schedulingEntity: SchedulingEntity): VictimSearchRequest['earlier'] {
    const stuck = this.stuckFor(schedulingEntity);
    const { priority } = sortKeyOf(schedulingEntity, 0);
    return {
      isStuck: ({ uid }) => stuck.has(uid),
      makesWay: ({ uid }) => (this.promisedTo(uid) ?? -Infinity) >= priority,
    };
  }

  carryOut(schedulingEntity: SchedulingEntity, preemption: Preemption): void {
    const { message: whole, proposal: message = whole, nominations, victims } = preemption;
    if (nominations.length === 0) return;
    if (victims.length > 0) this.#options.metrics.preempted(victims.length);
    const limits = preemptionLimitsOf(this.#options.intake.profiles.of(schedulingEntity));
    const deadline = deadlineFor(victims, limits, this.#now);
    const started = { message, nominations, victims, deadline, isRecovered: false };
    void this.#ongoing.carryOut(this.#ongoing.start(schedulingEntity, started));
  }

  /** The entity was planned: all these members are assumed on their nodes. */
  committed(key: EntityKey, schedulingEntity: SchedulingEntity, assignments: readonly Nomination[]): void {
    if (this.#ongoing.count === 0) return;
    const own = this.#ongoing.of(key);
    if (own !== undefined) {
      const nodeOf = new Map(own.plan.nominations.map(({ pod, nodeName }) => [pod.uid, nodeName]));
      const isAsPlanned = assignments.every(({ pod, nodeName }) => nodeOf.get(pod.uid) === nodeName);
      if (!isAsPlanned || !own.isAlone) this.#ongoing.end(own, { outcome: 'elsewhere' });
    }
    const priority = Math.min(...assignments.map(({ pod }) => pod.priority));
    this.#ongoing.displace(assignments, key, beneficiaryOf(schedulingEntity, priority));
  }

  /** Returns the uids of the pods whose end must not wake the entity, because it waits for the last of them. */
  awaitedBy(key: EntityKey): ReadonlySet<string> | undefined {
    return this.#ongoing.of(key)?.victimUids;
  }

  /** Returns the uids of pods that did not terminate in time for this entity. It must not choose them again. */
  stuckFor(schedulingEntity: SchedulingEntity): ReadonlySet<string> {
    return this.#ongoing.history.stuckFor(schedulingEntity);
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
          note: `node ${avoided.nodeName} rejects ${avoided.pod.name}`,
        });
      } else if (!ongoing.isAlone) {
        const { message, victimUids, waitingUids, deadline } = ongoing;
        const sentence = waitingFor(waitingUids.size, victimUids.size, deadline.now);
        return { message: `${message} ${sentence}`, isWaiting: true };
      } else {
        const note = 'the victims are gone, but the reserved capacity is no longer sufficient';
        this.#ongoing.end(ongoing, { outcome: 'abandoned', note, isFailure: !ongoing.isRecovered });
      }
    }
    const hasFailed = (this.#ongoing.history.of(schedulingEntity)?.times ?? 0) > 0;
    const message = hasFailed ? this.#pauseOf(schedulingEntity) : undefined;
    return message === undefined ? undefined : { message };
  }

  /** Returns what the verdict must say if the entity may not preempt now, because of an earlier failure or a delay. */
  #pauseOf(schedulingEntity: SchedulingEntity): string | undefined {
    const { clock } = this.#options.intake;
    const failure = this.#ongoing.history.of(schedulingEntity);
    const pauseMs = (failure?.notBefore ?? 0) - clock.monotonic();
    if (failure === undefined || pauseMs <= 0) return undefined;
    const next = failure.times === 0 ? 'not before' : 'next try not before';
    return `preemption: ${failure.note}; ${next} ${timeOf(clock.now() + pauseMs)}.`;
  }

  get #now(): Moment {
    const { clock } = this.#options.intake;
    return { monotonic: clock.monotonic(), now: clock.now() };
  }
}
