import { ForbiddenError, NotLeadingError } from '../../client/api-errors.ts';
import { toError } from '../../base/to-error.ts';
import { isTerminal } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import { DueTimes } from '../../base/due-times.ts';
import { mustRespect } from '../../cluster/reservation.ts';
import { withoutNumbers } from '../../framework/diagnosis.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { Nomination } from '../../framework/dry-run.ts';
import type { Profile } from '../../framework/profile.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import { Status } from '../../framework/status.ts';
import type { Logger } from '../../observability/logger.ts';
import { entityKeyOf } from '../../queue/queued-entity.ts';
import type { EntityKey } from '../../queue/queued-entity.ts';
import type { Intake } from '../intake/intake.ts';
import type { PreemptionMetrics } from '../metrics/preemption-metrics.ts';
import type { NodeSubsetOf } from '../placement/cache/node-subset.ts';
import type { Demand } from '../placement/planning/demand.ts';
import type { EventSink, PodEvictor } from '../ports.ts';
import { sortKeyOf } from '../sort-key.ts';
import { OngoingPreemption } from './ongoing-preemption.ts';
import type { Moment, PreemptionOutcome } from './ongoing-preemption.ts';
import { PlanReservations } from './plan-reservations.ts';
import { PreemptionCheck } from './preemption-check.ts';
import { PreemptionEvents } from './preemption-events.ts';
import { PreemptionHistory } from './preemption-history.ts';
import { beneficiaryOf, couldNotEvict, gaveUpOn, markedFor, nameOf, timeOf, waitingFor } from './preemption-texts.ts';
import { nominationsOfEarlierProcess } from './recovered-nominations.ts';
import type { Reservations } from './reservations.ts';
import { isUsableFor } from './usable-node.ts';
import { Victims } from './victims.ts';

export interface PreemptionsOptions {
  readonly intake: Intake;
  readonly reservations: Reservations;
  /** Returns the names of the nodes where the pod could not be bound. */
  readonly rejections: { avoidedBy(pod: Pod): readonly string[]; readonly isEmpty: boolean };
  readonly evictor: Pick<PodEvictor, 'mark' | 'unmark' | 'evict'>;
  readonly events: EventSink;
  readonly metrics: PreemptionMetrics;
  readonly logger: Logger;
  /** Once aborted, nothing is sent or logged any more. */
  readonly signal: AbortSignal;
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
  /** The message without its counts and times. Absent: the message itself. */
  readonly cause?: string;
  /** Nominations for all members that the entity still needs; empty if nothing is preempted. */
  readonly nominations: readonly Nomination[];
  /** Pods that must leave. Those that terminate already are only awaited. */
  readonly victims: readonly Pod[];
  /** True if it follows from an earlier preemption of the same entity, so that it holds for no other. */
  readonly isOwn?: boolean;
}

/** How a preemption ends. */
interface End {
  readonly outcome: PreemptionOutcome;
  /** A part of a sentence for the verdict. */
  readonly note?: string;
  /** True if a repetition may fail in the same way, so that the entity must pause. */
  readonly isFailure?: boolean;
  /** Pods that it must not wait for again. */
  readonly stuck?: readonly Pod[];
}

/** How long an entity waits beyond the longest grace period of its victims, and the longest wait. */
const slackMs = 60_000;
const maxWaitMs = 15 * 60_000;
const nothing = { nominations: [], victims: [] } as const;

/**
 * Carries out the preemption that PostFilter proposes, but only if the whole entity then fits. First all its capacity is reserved, then all
 * victims are marked, then all are evicted. Victims must have a lower priority, and no group may keep fewer members than its quorum.
 *
 * An entity has at most one preemption at a time, and PostFilter is not called for it meanwhile. The preemption ends as a whole: see
 * `PreemptionOutcome`. The entity is tried again when its last victim has left. After a preemption that failed, it must pause before the
 * next one, but its ordinary attempts continue.
 */
export class Preemptions {
  readonly #options: PreemptionsOptions;
  readonly #victims: Victims;
  readonly #check: PreemptionCheck;
  readonly #events: PreemptionEvents;
  readonly #history = new PreemptionHistory();
  /** entity -> its preemption; due at its deadline */
  readonly #ongoing = new Map<EntityKey, OngoingPreemption>();
  /** uid of a nominated pod -> the preemption for it */
  readonly #byMember = new Map<string, OngoingPreemption>();
  /** uid of a victim -> the preemptions that wait for it */
  readonly #byVictim = new Map<string, Set<OngoingPreemption>>();
  readonly #deadlines: DueTimes<OngoingPreemption>;
  /** entity -> a pod of it to wake when it may preempt again */
  readonly #pauses: DueTimes<EntityKey, Pod>;

  constructor(options: PreemptionsOptions) {
    this.#options = options;
    const { intake, evictor, events, logger, signal } = options;
    const { cluster, dryRuns, clock, queue } = intake;
    this.#victims = new Victims({ intake, evictor, logger, signal });
    this.#events = new PreemptionEvents({ cluster, events });
    this.#check = new PreemptionCheck({
      cluster,
      dryRuns,
      isStuck: (schedulingEntity, uid) => this.stuckFor(schedulingEntity).has(uid),
      promisedTo: (uid) => this.promisedTo(uid),
    });
    this.#deadlines = new DueTimes(clock, (ongoing) => this.#expire(ongoing));
    this.#pauses = new DueTimes(clock, (_key, pod) => queue.wake(pod, 'PreemptionAllowed'));
    intake.podSeen.add((uid, pod) => this.#podSeen(uid, pod));
    intake.groupSeen.add((key) => this.#groupSeen(key));
    intake.nodeChanged.add((name) => this.#nodeChanged(name));
  }

  /** Number of preemptions that wait for their victims. */
  get inFlight(): number {
    return this.#ongoing.size;
  }

  /** True while the marks of an earlier process are settled. Nothing may be bound until then. */
  get isSettling(): boolean {
    return this.#victims.isSettling;
  }

  /** Continues or undoes what an earlier process has left. Calls `settled` once pods may be bound. */
  begin(settled: () => void): void {
    const { intake } = this.#options;
    const { cluster, clock, verdicts } = intake;
    const { whole, stale } = nominationsOfEarlierProcess(intake);
    for (const { pod, nodeName } of [...whole.flatMap(({ nominations }) => nominations), ...stale])
      cluster.ownNominations.add(pod.uid, nodeName);
    for (const { schedulingEntity, nominations, victims } of whole) {
      const now = { monotonic: clock.monotonic(), now: clock.now() };
      this.#start(schedulingEntity, { message: 'A preemption continues.', nominations, victims }, later(now, slackMs));
    }
    for (const { pod } of stale) cluster.endReservation(pod.uid);
    verdicts.nominationsEnded(stale.map(({ pod }) => pod));
    this.#victims.begin(settled);
  }

  /** Calls PostFilter and validates its result; `carryOut` must follow. Undefined if PostFilter has no result. */
  ask(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    demand: Demand,
    diagnosis: Diagnosis,
  ): Preemption | undefined {
    const earlier = this.#earlier(schedulingEntity);
    if (earlier !== undefined) return { ...earlier, ...nothing, cause: withoutNumbers(earlier.message), isOwn: true };
    if (profile.hasPostFilter) this.#options.metrics.postFilterCalled();
    const result = profile.postFilter(schedulingEntity, diagnosis);
    if (result === undefined) return undefined;
    if (result instanceof Status) {
      this.#options.logger.error('PostFilter failed', { entity: nameOf(schedulingEntity), error: result.cause });
      return { message: `${result.message}.`, ...nothing };
    }
    const { policy } = answer.result;
    const searched =
      policy && (yield* this.#search(schedulingEntity, { profile, demand, policy, nodeSubsetOf }, budget));
    const result = searched?.result ?? answer.result;
    const { message, nominations = [], eventsMayHelp = false } = result;
    const unschedulablePlugins = eventsMayHelp ? [answer.plugin, ...(searched?.unschedulablePlugins ?? [])] : [];
    // Deduplicate victims.
    const victims = [...new Map((result.victims ?? []).map((pod) => [pod.uid, pod])).values()];
    if (nominations.length === 0 && victims.length === 0) return { message, nominations, victims };
    const problem = this.#check.problemOf(profile, schedulingEntity, demand, { nominations, victims });
    if (problem === undefined) {
      const until = this.#deadlineFor(victims);
      const whole = `${message} ${waitingFor(victims.length, victims.length, until.now)}`;
      return { message: whole, proposal: message, cause: withoutNumbers(whole), nominations, victims };
    }
    const entity = nameOf(schedulingEntity);
    this.#options.logger.warn('PostFilter plugin returned invalid victims or nominations', { entity, problem });
    return { message: `No pod is preempted: ${problem}.`, ...nothing };
  }

  carryOut(schedulingEntity: SchedulingEntity, preemption: Preemption): void {
    if (preemption.nominations.length === 0) return;
    const { victims } = preemption;
    if (victims.length > 0) this.#options.metrics.preempted(victims.length);
    const ongoing = this.#start(schedulingEntity, preemption, this.#deadlineFor(victims));
    const by = beneficiaryOf(schedulingEntity, ongoing.plan.priority);
    this.#displace(preemption.nominations, ongoing.key, by);
    this.#events.started(ongoing);
    if (ongoing.units.length > 0) void this.#markAll(ongoing);
    else if (ongoing.isAlone) this.#wakeForCapacity(ongoing);
  }

  /** The entity was planned: all these members are assumed on their nodes. */
  committed(key: EntityKey, schedulingEntity: SchedulingEntity, assignments: readonly Nomination[]): void {
    if (this.#ongoing.size === 0) return;
    const own = this.#ongoing.get(key);
    if (own !== undefined) {
      const nodeOf = new Map(own.plan.nominations.map(({ pod, nodeName }) => [pod.uid, nodeName]));
      const isAsPlanned = assignments.every(({ pod, nodeName }) => nodeOf.get(pod.uid) === nodeName);
      if (!isAsPlanned || !own.isAlone) this.#end(own, { outcome: 'elsewhere' });
    }
    const priority = Math.min(...assignments.map(({ pod }) => pod.priority));
    this.#displace(assignments, key, beneficiaryOf(schedulingEntity, priority));
  }

  /** Returns the uids of the pods whose end must not wake the entity, because it waits for the last of them. */
  awaitedBy(key: EntityKey): ReadonlySet<string> | undefined {
    return this.#ongoing.get(key)?.victimUids;
  }

  /** Returns the uids of pods that did not terminate in time for this entity. It must not choose them again. */
  stuckFor(schedulingEntity: SchedulingEntity): ReadonlySet<string> {
    return this.#history.stuckFor(entityKeyOf(schedulingEntity), uidOf(schedulingEntity));
  }

  /** Returns the highest priority for which the pod is being evicted; undefined: it is not. Others of equal or lower priority must not choose it. */
  promisedTo(uid: string): number | undefined {
    const ongoing = this.#byVictim.get(uid);
    if (ongoing !== undefined) return Math.max(...[...ongoing].map(({ plan }) => plan.priority));
    return this.#victims.has(uid) ? Infinity : undefined;
  }

  /** Number of victims that are still there although their preemption has ended. */
  get stuckVictims(): number {
    return this.#victims.count - this.#byVictim.size;
  }

  stop(): void {
    this.#deadlines.stop();
    this.#pauses.stop();
  }

  /** Returns what the verdict must say because of an earlier preemption, if no other may begin now. */
  #earlier(schedulingEntity: SchedulingEntity): Pick<Preemption, 'message'> | undefined {
    const { rejections, intake } = this.#options;
    const key = entityKeyOf(schedulingEntity);
    const ongoing = this.#ongoing.get(key);
    if (ongoing !== undefined) {
      const isAvoided = ({ pod, nodeName }: Nomination): boolean => rejections.avoidedBy(pod).includes(nodeName);
      const avoided = rejections.isEmpty ? undefined : ongoing.plan.nominations.find(isAvoided);
      if (avoided !== undefined) {
        this.#end(ongoing, { outcome: 'abandoned', note: `node ${avoided.nodeName} rejects ${avoided.pod.name}` });
      } else if (!ongoing.isAlone) {
        const { message, victimUids, waitingUids, deadline } = ongoing;
        return { message: `${message} ${waitingFor(waitingUids.size, victimUids.size, deadline.now)}` };
      } else {
        const note = 'the victims are gone, but the reserved capacity is no longer sufficient';
        this.#end(ongoing, { outcome: 'abandoned', note, isFailure: true });
      }
    }
    const uid = uidOf(schedulingEntity);
    const pauseMs = this.#history.notBefore(key, uid) - intake.clock.monotonic();
    if (pauseMs <= 0) return undefined;
    const next = timeOf(intake.clock.now() + pauseMs);
    return { message: `preemption: ${this.#history.noteOf(key, uid)}; next try not before ${next}.` };
  }

  #deadlineFor(victims: readonly Pod[]): Moment {
    const { clock } = this.#options.intake;
    const grace = Math.max(0, ...victims.map(({ template }) => template.terminationGracePeriodSeconds)) * 1000;
    const now = { monotonic: clock.monotonic(), now: clock.now() };
    return later(now, Math.min(grace + slackMs, maxWaitMs));
  }

  /** Reserves the capacity. Nothing is sent yet. */
  #start(
    schedulingEntity: SchedulingEntity,
    { message, proposal = message, nominations, victims }: Preemption,
    deadline: Moment,
  ): OngoingPreemption {
    const { intake, reservations } = this.#options;
    const { cluster, clock } = intake;
    const { priority } = sortKeyOf(schedulingEntity, 0);
    const plan = new PlanReservations({ priority, nominations });
    reservations.keepPlan(plan);
    const toEvict = victims.filter(({ uid }) => cluster.pod(uid)?.deleting === false);
    const { schedulerName } = plan.owner;
    const units = this.#victims.unite(toEvict, {
      schedulerName,
      beneficiary: markedFor(schedulingEntity),
      observer: {
        evicted: (pod, unit) => this.#events.evicted(ongoing, pod, unit),
        failed: (error) => {
          if (error instanceof ForbiddenError) this.#endForError(ongoing, error);
        },
      },
    });
    const ongoing: OngoingPreemption = new OngoingPreemption(cluster, {
      ...{ schedulingEntity, plan, victims, units, deadline },
      message: proposal,
      startedAt: clock.monotonic(),
    });
    this.#ongoing.set(ongoing.key, ongoing);
    for (const { pod } of nominations) this.#byMember.set(pod.uid, ongoing);
    for (const { uid } of victims) {
      const waiting = this.#byVictim.get(uid);
      if (waiting === undefined) this.#byVictim.set(uid, new Set([ongoing]));
      else waiting.add(ongoing);
    }
    this.#deadlines.set(ongoing, deadline.monotonic, undefined);
    return ongoing;
  }

  async #markAll(ongoing: OngoingPreemption): Promise<void> {
    const errors = await Promise.all(ongoing.units.map((unit) => unit.mark()));
    this.#options.intake.gate.run(() => {
      if (ongoing.state.kind === 'ended') return;
      const error = errors.find((each) => each !== undefined);
      if (error !== undefined) {
        this.#endForError(ongoing, error);
        return;
      }
      ongoing.state = { kind: 'evicting' };
      for (const unit of ongoing.units) void unit.evict();
    });
  }

  #endForError(ongoing: OngoingPreemption, error: Error): void {
    const { signal, logger } = this.#options;
    // The next leader continues from the marks.
    if (signal.aborted || error instanceof NotLeadingError) return;
    logger.warn('gave up a preemption', { entity: ongoing.key, error });
    this.#end(ongoing, { outcome: 'abandoned', note: couldNotEvict(error), isFailure: true });
  }

  #podSeen(uid: string, pod: Pod | undefined): void {
    this.#victims.podSeen(uid, pod);
    const isGone = pod === undefined || isTerminal(pod);
    if (isGone) for (const ongoing of [...(this.#byVictim.get(uid) ?? [])]) this.#victimLeft(ongoing, uid);
    if (isGone || pod.nodeName !== '') this.#forget(`pod/${uid}`);
    const own = this.#byMember.get(uid);
    if (own !== undefined) this.#reconcile(own);
  }

  #groupSeen(groupKey: string): void {
    const key = `gang/${groupKey}`;
    const gang = this.#options.intake.cluster.gang(groupKey);
    const own = this.#ongoing.get(key);
    if (own !== undefined) this.#reconcile(own);
    if (gang?.spec === undefined || (gang.missing === 0 && gang.count('planned') === 0)) this.#forget(key);
  }

  #nodeChanged(name: string): void {
    const { cluster } = this.#options.intake;
    for (const { plan, owner } of [...cluster.reservationsOn(name)]) {
      const ongoing = this.#byMember.get(owner.uid);
      if (plan === undefined || ongoing?.plan !== plan || ongoing.state.kind === 'ended') continue;
      if (isUsableFor(owner, cluster.node(name))) continue;
      this.#end(ongoing, { outcome: 'abandoned', note: `node ${name} is gone or takes no pods` });
    }
  }

  #victimLeft(ongoing: OngoingPreemption, uid: string): void {
    this.#byVictim.get(uid)!.delete(ongoing);
    if (this.#byVictim.get(uid)!.size === 0) this.#byVictim.delete(uid);
    ongoing.waitingUids.delete(uid);
    if (ongoing.isAlone) this.#wakeForCapacity(ongoing);
  }

  #wakeForCapacity({ plan }: OngoingPreemption): void {
    const { cluster, queue } = this.#options.intake;
    for (const { pod } of plan.nominations) {
      const open = cluster.openPod(pod.uid);
      if (open === undefined) continue;
      queue.activate(open);
      return;
    }
  }

  #reconcile(ongoing: OngoingPreemption): void {
    const { demand } = ongoing;
    if (demand === 'bound') this.#end(ongoing, { outcome: 'bound' });
    if (demand === 'changed') this.#end(ongoing, { outcome: 'abandoned', note: 'what it asked for has changed' });
  }

  #expire(ongoing: OngoingPreemption): void {
    const { clock, cluster } = this.#options.intake;
    if (ongoing.isAlone && ongoing.isBeingBound) {
      this.#deadlines.set(ongoing, clock.monotonic() + slackMs, undefined);
      return;
    }
    const stuck = [...ongoing.waitingUids].map((uid) => cluster.pod(uid)!);
    const waitedMs = clock.monotonic() - ongoing.startedAt;
    const note = stuck.length > 0 ? gaveUpOn(stuck, waitedMs) : `gave up after ${Math.round(waitedMs / 1000)} s`;
    this.#end(ongoing, { outcome: 'expired', note, isFailure: true, stuck });
  }

  /** Ends the preemptions of lower priority whose plan no longer fits beside these pods. */
  #displace(assignments: readonly Nomination[], ownKey: EntityKey, by: string): void {
    const { cluster } = this.#options.intake;
    const hit = new Set<OngoingPreemption>();
    for (const { pod, nodeName } of assignments) {
      for (const reservation of cluster.reservationsOn(nodeName)) {
        const ongoing = this.#byMember.get(reservation.owner.uid);
        if (ongoing === undefined || ongoing.plan !== reservation.plan || ongoing.key === ownKey) continue;
        if (!mustRespect(pod, reservation)) hit.add(ongoing);
      }
    }
    for (const ongoing of hit) {
      if (ongoing.isBeingBound || this.#stillFits(ongoing)) continue;
      this.#end(ongoing, { outcome: 'displaced', note: `displaced by ${by}` });
    }
  }

  #stillFits({ schedulingEntity, plan, waitingUids }: OngoingPreemption): boolean {
    const { intake, logger } = this.#options;
    const { cluster, dryRuns, profiles } = intake;
    const nominations = plan.nominations.flatMap(({ pod: { uid }, nodeName }) => {
      const pod = cluster.openPod(uid);
      return pod === undefined ? [] : [{ pod, nodeName }];
    });
    const without = [...waitingUids].flatMap((uid) => cluster.pod(uid) ?? []);
    try {
      return dryRuns.rejectionOf(profiles.of(schedulingEntity), schedulingEntity, nominations, without) === undefined;
    } catch (error) {
      logger.warn('could not check a reserved plan', { entity: nameOf(schedulingEntity), error: toError(error) });
      return true;
    }
  }

  /** Ends everything that belongs to the preemption, in one step. */
  #end(ongoing: OngoingPreemption, { outcome, note = '', isFailure = false, stuck = [] }: End): void {
    if (ongoing.state.kind === 'ended') return;
    ongoing.state = { kind: 'ended', outcome };
    const { intake, reservations, metrics, logger } = this.#options;
    const { clock, queue, verdicts } = intake;
    const { key, plan, units, schedulingEntity } = ongoing;
    this.#ongoing.delete(key);
    this.#deadlines.delete(ongoing);
    for (const { pod } of plan.nominations) this.#byMember.delete(pod.uid);
    for (const uid of [...ongoing.waitingUids]) {
      const others = this.#byVictim.get(uid)!;
      others.delete(ongoing);
      if (others.size === 0) this.#byVictim.delete(uid);
    }
    this.#victims.cancel(units);
    const uid = uidOf(schedulingEntity);
    if (isFailure) {
      const until = clock.monotonic() + this.#history.pauseAfter(key, uid);
      const uids = stuck.map((pod) => pod.uid);
      this.#history.failed({ key, uid, until, note, stuck: uids });
      this.#pauses.set(key, until, plan.owner);
    }
    const wasted = outcome === 'bound' ? 0 : ongoing.evictedCount;
    metrics.ended(outcome, wasted, (clock.monotonic() - ongoing.startedAt) / 1000);
    logger.info('a preemption ended', { entity: key, outcome, note, wasted });
    this.#events.ended(ongoing, outcome, note);
    verdicts.nominationsEnded(plan.nominations.map(({ pod }) => pod));
    reservations.endPlan(plan);
    // The owner no longer needs to wait for this capacity and may fit elsewhere.
    queue.wake(plan.owner, 'ReservationEnded');
  }

  /** The entity is bound or gone. */
  #forget(key: EntityKey): void {
    this.#history.forget(key);
    this.#pauses.delete(key);
  }
}

function uidOf(schedulingEntity: SchedulingEntity): string {
  return schedulingEntity.kind === 'gang' ? (schedulingEntity.gang.spec?.uid ?? '') : schedulingEntity.pod.uid;
}

function later({ monotonic, now }: Moment, ms: number): Moment {
  return { monotonic: monotonic + ms, now: now + ms };
}
