import { isTerminal } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import { DueTimes } from '../../base/due-times.ts';
import { Multimap } from '../../base/multimap.ts';
import { partition } from '../../base/partition.ts';
import { ForbiddenError, NotLeadingError } from '../../client/api-errors.ts';
import { mustRespect } from '../../cluster/reservation.ts';
import type { Nomination } from '../../framework/dry-run.ts';
import { namespaceOf } from '../../framework/names-for-users.ts';
import { preemptionLimitsOf } from '../../framework/preemption-limits.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Logger } from '../../observability/logger.ts';
import { entityKeyOf } from '../../queue/queued-entity.ts';
import type { EntityKey } from '../../queue/queued-entity.ts';
import type { Intake } from '../intake/intake.ts';
import type { PreemptionMetrics } from '../metrics/preemption-metrics.ts';
import type { EventSink, PodEvictor } from '../ports.ts';
import { sortKeyOf } from '../sort-key.ts';
import { deadlineFor, isOverdue, OngoingPreemption } from './ongoing-preemption.ts';
import type { Moment, PreemptionResult } from './ongoing-preemption.ts';
import { PlanFit } from './plan-fit.ts';
import type { PlanFitOptions } from './plan-fit.ts';
import { PlanReservations } from './plan-reservations.ts';
import { PreemptionEvents } from './preemption-events.ts';
import { PreemptionHistory } from './preemption-history.ts';
import { PreemptionRequests } from './preemption-requests.ts';
import { beneficiaryOf, couldNotEvict, gaveUpOn, markedFor } from './preemption-texts.ts';
import type { Reservations } from './reservations.ts';
import { isUsableFor } from './usable-node.ts';
import type { VictimUnit } from './victim-unit.ts';
import { VictimUnits } from './victim-units.ts';
import type { WaitingPlans } from './waiting-plans.ts';

export interface OngoingPreemptionsOptions extends Pick<PlanFitOptions, 'turnsIgnoredBy'> {
  readonly intake: Intake;
  readonly reservations: Reservations;
  readonly plans: WaitingPlans;
  readonly evictor: Pick<PodEvictor, 'mark' | 'unmark' | 'evict' | 'release'>;
  readonly events: EventSink;
  readonly metrics: Pick<PreemptionMetrics, 'ended'>;
  readonly logger: Logger;
  /** Once aborted, nothing is sent or logged any more. */
  readonly signal: AbortSignal;
}

/** What an entity has reserved, and what it waits for. */
export interface StartedPreemption {
  /** What PostFilter says of it. */
  readonly message: string;
  readonly nominations: readonly Nomination[];
  readonly victims: readonly Pod[];
  /** Pods that must leave too, and that other preemptions evict. */
  readonly awaited: readonly Pod[];
  readonly deadline: Moment;
  /** True if an earlier process began it. */
  readonly isRecovered: boolean;
}

/** How a preemption ends. */
export interface PreemptionEnd {
  readonly outcome: PreemptionResult;
  /** A part of a sentence for the verdict. */
  readonly note?: string;
  /** True if a repetition may fail in the same way, so that the entity must pause; `fromSecond`: only if it has failed before. */
  readonly isFailure?: boolean | 'fromSecond';
  /** Pods that no entity must wait for any more. */
  readonly stuck?: readonly Pod[];
}

/** Maximum number of pods to name in a log line. */
const loggedPods = 10;
/** How long the capacity stays reserved for an entity that is being bound when its time is over. */
const bindingMs = 60_000;

/** All preemptions, from their reservations to their end. Whatever happens in the cluster that ends one is noticed here. */
export class OngoingPreemptions {
  readonly history = new PreemptionHistory();
  readonly victims: VictimUnits;
  readonly #options: OngoingPreemptionsOptions;
  readonly #events: PreemptionEvents;
  readonly #requests: PreemptionRequests;
  readonly #fit: PlanFit;
  /** entity -> its preemption */
  readonly #ongoing = new Map<EntityKey, OngoingPreemption>();
  /** uid of a nominated pod -> the preemption for it */
  readonly #byMember = new Map<string, OngoingPreemption>();
  /** uid of a victim -> the preemptions that wait for it, also those that others evict it for */
  readonly #awaited = new Multimap<string, OngoingPreemption>();
  /** uids of pods that did not terminate in time, until they are gone. Otherwise each entity in turn would wait for them. */
  readonly #stuck = new Set<string>();
  /** preemption, due at its deadline */
  readonly #deadlines: DueTimes<OngoingPreemption>;
  /** entity -> a pod of it to wake when it may preempt again */
  readonly #pauses: DueTimes<EntityKey, Pod>;

  constructor(options: OngoingPreemptionsOptions) {
    this.#options = options;
    const { intake, plans, evictor, events, logger, signal } = options;
    const { cluster, clock, queue } = intake;
    this.victims = new VictimUnits({ intake, evictor, logger, signal });
    this.#events = new PreemptionEvents({ cluster, events });
    this.#fit = new PlanFit({ ...options, awaited: this.#awaited });
    this.#requests = new PreemptionRequests({
      intake,
      plans,
      recalled: (uid) => {
        for (const each of this.#awaited.of(uid)) this.#victimLeft(each, uid);
        this.#recalled(uid);
      },
      mayEvict: (ongoing) => this.#mayEvict(ongoing),
      failed: (ongoing, error) => this.#endForError(ongoing, error),
    });
    this.#deadlines = new DueTimes(clock, (ongoing) => this.#expire(ongoing));
    this.#pauses = new DueTimes(clock, (_key, pod) => queue.wake(pod, 'PreemptionAllowed'));
    intake.podSeen.add((uid, pod) => this.#podSeen(uid, pod));
    intake.groupSeen.add((key) => this.#groupSeen(key));
    intake.nodeChanged.add((name) => this.#nodeChanged(name));
  }

  get count(): number {
    return this.#ongoing.size;
  }

  /** Returns the entity's preemption. */
  of(key: EntityKey): OngoingPreemption | undefined {
    return this.#ongoing.get(key);
  }

  /** Returns the highest priority for which the pod is being evicted; undefined: it is not. Others of equal or lower priority must not choose it. */
  promisedTo(uid: string): number | undefined {
    const waiting = this.#awaited.of(uid);
    if (waiting.length > 0) return Math.max(...waiting.map(({ plan }) => plan.priority));
    return this.victims.has(uid) ? Infinity : undefined;
  }

  /** Returns whether the pod did not terminate in time. No entity must choose it, or wait for it. */
  isStuck(pod: Pod): boolean {
    return this.#stuck.has(pod.uid) || isOverdue(pod, this.#options.intake.clock.now());
  }

  /** Returns the uids of the pods that are being evicted for this priority or a higher one. */
  promisedAtLeast(priority: number): ReadonlySet<string> {
    const uids = [...this.#awaited.keys(), ...this.victims.uids];
    return new Set(uids.filter((uid) => (this.promisedTo(uid) ?? -Infinity) >= priority));
  }

  /** Number of victims that are still there although their preemption has ended. */
  get stuckVictims(): number {
    let count = 0;
    for (const uid of this.victims.uids) if (!this.#awaited.has(uid) && this.victims.has(uid)) count++;
    return count;
  }

  /** Reserves the capacity, and ends the preemptions that this displaces. Nothing is sent yet. */
  start(schedulingEntity: SchedulingEntity, started: StartedPreemption): OngoingPreemption {
    const { nominations, victims, awaited, deadline } = started;
    const { intake, reservations, plans } = this.#options;
    const { cluster, clock, profiles } = intake;
    const { priority } = sortKeyOf(schedulingEntity, 0);
    const limits = preemptionLimitsOf(profiles.of(schedulingEntity));
    const plan = new PlanReservations({ priority, nominations, excludesSiblings: schedulingEntity.kind === 'pod' });
    reservations.keepPlan(plan);
    const [recalled, bound] = partition(victims, ({ uid }) => plans.isWaiting(uid));
    const toEvict = bound.filter(({ uid }) => cluster.pod(uid)?.deleting === false);
    const { schedulerName } = plan.owner;
    const units = this.victims.unite(toEvict, {
      schedulerName,
      keepsBudgets: limits.keepsBudgets,
      beneficiary: (namespace) => markedFor(schedulingEntity, namespace),
      observer: {
        evicted: (pod, unit) => this.#evicted(ongoing, pod, unit),
        failed: (error) => {
          if (error instanceof ForbiddenError) this.#endForError(ongoing, error);
        },
        stay: (uids) => this.#stay(uids),
      },
    });
    const ongoing: OngoingPreemption = new OngoingPreemption(cluster, {
      ...started,
      generation: this.#fit.generationOf(plan),
      ...{
        schedulingEntity,
        plan,
        units,
        limits,
        recalledUids: recalled.map(({ uid }) => uid),
        victims: [...victims, ...awaited],
      },
      startedAt: clock.monotonic(),
    });
    this.#ongoing.set(ongoing.key, ongoing);
    for (const { pod } of nominations) this.#byMember.set(pod.uid, ongoing);
    for (const uid of ongoing.victimUids) this.#awaited.add(uid, ongoing);
    this.#deadlines.set(ongoing, deadline.monotonic, undefined);
    this.displace(nominations, ongoing.key, (namespace) => beneficiaryOf(schedulingEntity, priority, namespace));
    return ongoing;
  }

  /** Gives up plans, marks the victims, and then evicts them. Without victims, the entity is tried again. */
  async carryOut(ongoing: OngoingPreemption): Promise<void> {
    this.#events.started(ongoing);
    if (ongoing.units.length === 0 && ongoing.isAlone) this.#wakeForCapacity(ongoing);
    await this.#requests.send(ongoing);
  }

  /** Ends the preemptions of lower priority whose plan no longer fits beside these pods. `by`: returns who displaces them, for a namespace. */
  displace(assignments: readonly Nomination[], ownKey: EntityKey, by: (namespace: string) => string): void {
    const { cluster } = this.#options.intake;
    if (this.#ongoing.size === Number(this.#ongoing.has(ownKey))) return;
    const hit = new Set<OngoingPreemption>();
    for (const [nodeName, there] of Map.groupBy(assignments, (each) => each.nodeName)) {
      for (const reservation of cluster.reservationsOn(nodeName)) {
        const ongoing = this.#byMember.get(reservation.owner.uid);
        if (ongoing === undefined || ongoing.plan !== reservation.plan || ongoing.key === ownKey) continue;
        if (there.some(({ pod }) => !mustRespect(pod, reservation))) hit.add(ongoing);
      }
    }
    for (const ongoing of hit) {
      // The end of another one may have ended it.
      if (ongoing.state.kind === 'ended' || ongoing.isBeingBound) continue;
      if (this.#fit.stillFits(ongoing) || this.waitsForOthers(ongoing)) continue;
      const namespace = namespaceOf(ongoing.schedulingEntity);
      this.end(ongoing, { outcome: 'displaced', note: `displaced by ${by(namespace)}` });
    }
  }

  /** The plan does not fit now. Returns whether it fits once the victims of others on its nodes are gone. It then waits for them as well. */
  waitsForOthers(ongoing: OngoingPreemption): boolean {
    const leaving = this.#fit.fitsWithout(ongoing);
    for (const { uid } of leaving ?? []) this.#await(ongoing, uid);
    return leaving !== undefined;
  }

  /** Ends everything that belongs to the preemption, in one step. */
  end(ongoing: OngoingPreemption, { outcome, note = '', isFailure = false, stuck = [] }: PreemptionEnd): void {
    if (ongoing.state.kind === 'ended') return;
    ongoing.state = { kind: 'ended', outcome };
    const { intake, reservations, metrics, logger } = this.#options;
    const { clock, queue, verdicts } = intake;
    const { key, plan, units, schedulingEntity } = ongoing;
    this.#ongoing.delete(key);
    this.#deadlines.delete(ongoing);
    for (const { pod } of plan.nominations) this.#byMember.delete(pod.uid);
    for (const uid of ongoing.waitingUids) this.#awaited.delete(uid, ongoing);
    this.victims.cancel(units);
    for (const { uid } of stuck) this.#stuck.add(uid);
    if (isFailure !== false) {
      const { history } = this;
      const hasPause = isFailure !== 'fromSecond' || history.hasFailed(schedulingEntity);
      const pause = hasPause ? ongoing.limits.backoff : undefined;
      const notBefore = history.failed(schedulingEntity, pause, clock.monotonic(), note);
      if (hasPause) this.#pauses.set(key, notBefore, plan.owner);
    }
    const wasted = outcome === 'bound' ? 0 : ongoing.evictedCount;
    metrics.ended(outcome, wasted, (clock.monotonic() - ongoing.startedAt) / 1000);
    logger.info('a preemption ended', { entity: key, outcome, note, wasted });
    this.#events.ended(ongoing, outcome, note);
    verdicts.nominationsEnded(plan.nominations.map(({ pod }) => pod));
    reservations.endPlan(plan);
    this.#stay(ongoing.waitingUids);
    // The owner no longer needs to wait for this capacity and may fit elsewhere.
    queue.wake(plan.owner, 'ReservationEnded');
  }

  /**
   * The entity asks for a preemption. Returns false if it must have been unschedulable for longer before its first one. It is then tried
   * again when the time is over. `mayHelp`: otherwise nothing needs to wait.
   */
  mayBegin(schedulingEntity: SchedulingEntity, delayMs: number, mayHelp: () => boolean): boolean {
    if (delayMs === 0) return true;
    const now = this.#options.intake.clock.monotonic();
    const note = `it must be unschedulable for ${delayMs / 1000} s first`;
    const { notBefore } =
      this.history.of(schedulingEntity) ?? this.history.delayed(schedulingEntity, now + delayMs, note);
    if (notBefore <= now || !mayHelp()) return true;
    const [pod] = schedulingEntity.kind === 'pod' ? [schedulingEntity.pod] : schedulingEntity.gang.pending.values();
    this.#pauses.set(entityKeyOf(schedulingEntity), notBefore, pod!);
    return false;
  }

  stop(): void {
    this.#deadlines.stop();
    this.#pauses.stop();
  }

  /** The grace period begins now, which may be long after the start if many pods are evicted. */
  #evicted(ongoing: OngoingPreemption, pod: Pod, unit: VictimUnit): void {
    this.#events.evicted(ongoing, pod, unit);
    const { clock, timeline } = this.#options.intake;
    timeline.preempted(pod, ongoing.key);
    const now = { monotonic: clock.monotonic(), now: clock.now() };
    for (const waiting of this.#awaited.of(pod.uid)) {
      const deadline = deadlineFor([pod], waiting.limits, now, waiting.startedAt);
      if (deadline.monotonic <= waiting.deadline.monotonic) continue;
      waiting.deadline = deadline;
      this.#deadlines.set(waiting, deadline.monotonic, undefined);
    }
  }

  /** Marks may take long. In the meantime, pods may have ended on the nodes of the plan, or another component may have bound some to them. */
  #mayEvict(ongoing: OngoingPreemption): boolean {
    if (this.#fit.generationOf(ongoing.plan) === ongoing.generation) return true;
    const needsVictims = !this.#fit.fitsBeside(ongoing);
    if (needsVictims && (this.#fit.stillFits(ongoing) || this.#fit.fitsWithout(ongoing) !== undefined)) return true;
    const why = needsVictims ? 'it would no longer fit' : 'it fits without evictions';
    const note = `its nodes have changed, and ${why}`;
    // Such changes should be rare. Should they ever follow from the preemption itself, a pause ends the loop.
    this.end(ongoing, { outcome: 'abandoned', note, ...(needsVictims && { isFailure: 'fromSecond' }) });
    return false;
  }

  #endForError(ongoing: OngoingPreemption, error: Error): void {
    const { signal, logger } = this.#options;
    // The next leader continues from the marks.
    if (signal.aborted || error instanceof NotLeadingError) return;
    logger.warn('gave up a preemption', { entity: ongoing.key, error });
    this.end(ongoing, { outcome: 'abandoned', note: couldNotEvict(error), isFailure: true });
  }

  #podSeen(uid: string, pod: Pod | undefined): void {
    this.victims.podSeen(uid, pod);
    const isGone = pod === undefined || isTerminal(pod);
    if (isGone) this.#stuck.delete(uid);
    if (isGone) for (const ongoing of this.#awaited.of(uid)) this.#victimLeft(ongoing, uid);
    if (!this.history.isEmpty && (isGone || pod.nodeName !== '')) this.#forget(`pod/${uid}`);
    const own = this.#byMember.get(uid);
    if (own !== undefined) {
      own.memberSeen(uid);
      this.#reconcile(own);
    }
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
      this.end(ongoing, { outcome: 'abandoned', note: 'one of its nodes is gone or takes no pods' });
    }
  }

  #isLeaving(uid: string): boolean {
    return this.victims.has(uid) || this.#options.intake.cluster.pod(uid)?.deleting === true;
  }

  /**
   * These pods are not evicted after all, except those that leave anyway. Others that wait for them fit beside them without the entity that gave
   * up, or they end too.
   */
  #stay(uids: Iterable<string>): void {
    const staying = [...uids].filter((uid) => !this.#isLeaving(uid));
    const waits = staying.flatMap((uid) => this.#awaited.of(uid).map((other) => ({ uid, other })));
    const byOther = Map.groupBy(
      waits.filter(({ uid, other }) => !other.evicts(uid)),
      ({ other }) => other,
    );
    for (const [other, staying] of byOther) {
      // The end of another one of them may have settled it.
      if (other.state.kind === 'ended') continue;
      const rest = new Set(other.waitingUids);
      for (const { uid } of staying) rest.delete(uid);
      const { schedulingEntity, plan } = other;
      if (this.#fit.stillFits({ schedulingEntity, plan, waitingUids: rest })) {
        for (const { uid } of staying) this.#victimLeft(other, uid);
        continue;
      }
      const name = this.#options.intake.cluster.pod(staying[0]!.uid)?.key;
      this.end(other, { outcome: 'abandoned', note: `pod ${name} is not evicted after all` });
    }
  }

  #victimLeft(ongoing: OngoingPreemption, uid: string): void {
    if (this.#awaited.delete(uid, ongoing) && ongoing.victimLeft(uid)) this.#wakeForCapacity(ongoing);
  }

  /** The pod is no longer being bound. If a preemption had reserved its capacity, a higher priority has taken that since. */
  #recalled(uid: string): void {
    const own = this.#byMember.get(uid);
    if (own === undefined || own.isBeingBound || this.#fit.stillFits(own) || this.waitsForOthers(own)) return;
    this.end(own, { outcome: 'displaced', note: 'a higher priority took its capacity before it was bound' });
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
    if (demand === 'bound') this.end(ongoing, { outcome: 'bound' });
    if (demand === 'changed') this.end(ongoing, { outcome: 'abandoned', note: 'what it asked for has changed' });
  }

  #expire(ongoing: OngoingPreemption): void {
    const { clock, cluster } = this.#options.intake;
    if (ongoing.isFreed && ongoing.isBeingBound) {
      this.#deadlines.set(ongoing, clock.monotonic() + bindingMs, undefined);
      return;
    }
    // Marks may wait in the rate limiter. The grace periods of the victims have not begun.
    const { startedAt, state, limits } = ongoing;
    if (state.kind === 'marking' && clock.monotonic() < startedAt + limits.maxWaitMs) {
      const next = Math.min(clock.monotonic() + limits.terminationSlackMs, startedAt + limits.maxWaitMs);
      this.#deadlines.set(ongoing, next, undefined);
      return;
    }
    const stuck = [...ongoing.waitingUids].map((uid) => cluster.pod(uid)!);
    const waitedMs = clock.monotonic() - ongoing.startedAt;
    const note =
      stuck.length > 0
        ? gaveUpOn(stuck, waitedMs, namespaceOf(ongoing.schedulingEntity))
        : `gave up after ${Math.round(waitedMs / 1000)} s`;
    const waitingFor = stuck.slice(0, loggedPods).map(({ key, nodeName }) => `${key} on ${nodeName}`);
    this.#options.logger.info('the victims of a preemption did not terminate in time', {
      entity: ongoing.key,
      waitingFor,
    });
    // A budget may allow the eviction next time.
    const avoided = stuck.filter(({ deleting }) => deleting);
    // Without pods to evict, nothing is in vain if it is tried again at once.
    this.end(ongoing, { outcome: 'expired', note, isFailure: ongoing.units.length > 0, stuck: avoided });
  }

  /** From now on, the preemption also waits for a pod that makes way for another entity: for as long as that does, if its own limit allows it. */
  #await(ongoing: OngoingPreemption, uid: string): void {
    const latest = ongoing.startedAt + ongoing.limits.maxWaitMs;
    for (const { deadline } of this.#awaited.of(uid))
      if (deadline.monotonic > ongoing.deadline.monotonic && deadline.monotonic <= latest) ongoing.deadline = deadline;
    this.#deadlines.set(ongoing, ongoing.deadline.monotonic, undefined);
    ongoing.await(uid);
    this.#awaited.add(uid, ongoing);
  }

  /** The entity is bound or gone. */
  #forget(key: EntityKey): void {
    this.history.forget(key);
    this.#pauses.delete(key);
  }
}
