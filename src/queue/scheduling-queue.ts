import type { Pod, PodTemplate } from '../api/pod.ts';
import type { BackoffPolicy } from '../base/backoff.ts';
import type { Clock, Timer } from '../base/clock.ts';
import type { SchedulingEntity } from '../framework/scheduling-entity.ts';
import type { ClusterEvent } from '../framework/cluster-event.ts';
import type { Rejection } from '../framework/event-hints.ts';
import { countFailure, longestHistory, restartForNewGroup } from './attempt-history.ts';
import type { AttemptHistory } from './attempt-history.ts';
import type { EquivalenceClass } from './equivalence/equivalence-class.ts';
import type { Joining } from './equivalence/equivalence-classes.ts';
import type { Failure } from './failure.ts';
import type { QueueObserver, QueuePolicy } from './queue-policy.ts';
import { QueueStores } from './queue-stores.ts';
import { entityKeyOf, forgetRejection, newEntity, rejectionOf } from './queued-entity.ts';
import type { EntityKey, QueuedEntity } from './queued-entity.ts';

export interface SchedulingQueueOptions {
  readonly clock: Clock;
  readonly policy: QueuePolicy;
  readonly observer: QueueObserver;
  /** Default: kube-scheduler's 1 s, doubling to 10 s. */
  readonly backoff?: BackoffPolicy;
  /** Time after which an entity that no event has helped is retried. Default: 5 minutes. A safety net; each such retry counts as a missed hint. */
  readonly maxUnschedulableMs?: number;
}

const flushIntervalMs = 30_000;
const activateEvent = 'ForceActivate';

/** Details of a change to a pod or gang. */
export interface EntityChange {
  /** Time at which the entity counts as ready if the change makes it ready, in milliseconds since the epoch. Default: now. */
  readonly since?: number;
  /** True if its demand has changed, so that its last rejection no longer holds. */
  readonly asksElse?: boolean;
}

/**
 * Entities that wait to be scheduled, in kube-scheduler's three stores plus the gated ones.
 *
 * A failure costs backoff, not rank: a failed entity leaves the active queue until an event may help it, so that it blocks no other
 * entity. Events that arrive while an entity's cycle runs are replayed when it fails.
 */
export class SchedulingQueue {
  readonly #clock: Clock;
  readonly #policy: QueuePolicy;
  readonly #observer: Pick<QueueObserver, 'removed'>;
  readonly #maxUnschedulableMs: number;
  /** A rejection this long after the last error ends the series of errors. */
  readonly #errorsHoldMs: number;
  /** key -> entity in any state */
  readonly #entities = new Map<EntityKey, QueuedEntity>();
  readonly #stores: QueueStores;
  #flushTimer: Timer | undefined;
  #flushed = 0;
  #joined = 0;

  constructor(options: SchedulingQueueOptions) {
    this.#clock = options.clock;
    this.#policy = options.policy;
    this.#observer = options.observer;
    this.#maxUnschedulableMs = options.maxUnschedulableMs ?? 5 * 60_000;
    const { clock, policy, observer, backoff = { initialMs: 1000, maxMs: 10_000 } } = options;
    this.#errorsHoldMs = 2 * backoff.maxMs;
    this.#stores = new QueueStores({ clock, policy, observer, backoff });
  }

  /** Number of entities per store, by the label values of the pending_pods metric. */
  get sizes(): QueueStores['sizes'] {
    return this.#stores.sizes;
  }

  /** Number of entities that were scheduled after only the flush retried them: missed hints. */
  get flushed(): number {
    return this.#flushed;
  }

  get(key: EntityKey): QueuedEntity | undefined {
    return this.#entities.get(key);
  }

  entities(): Iterable<QueuedEntity> {
    return this.#entities.values();
  }

  /**
   * Adds or updates an entity. Runs PreEnqueue to decide whether it is gated. If an unschedulable entity's demand has changed, retries it. The
   * entity keeps its rank: `readySince` (milliseconds since the epoch) is the first time it was ready. Only a partially bound gang goes
   * before all others, for as long as it is partially bound.
   */
  upsert(
    schedulingEntity: SchedulingEntity,
    event: string,
    { since: now = this.#clock.now(), asksElse = false }: EntityChange = {},
  ): void {
    const key = entityKeyOf(schedulingEntity);
    let entity = this.#entities.get(key);
    if (entity === undefined) {
      entity = newEntity(schedulingEntity, this.#policy.sortKey(schedulingEntity, now), now);
      this.#entities.set(key, entity);
      this.#admit(entity, event, now);
      return;
    }
    entity.schedulingEntity = schedulingEntity;
    if (asksElse) forgetRejection(entity);
    restartForNewGroup(entity, now);
    const { kind } = entity.state;
    if (kind === 'inFlight' || kind === 'setAside') {
      entity.triesAgain ||= asksElse;
      return;
    }
    if (kind === 'gated') {
      this.#admit(entity, event, now);
      return;
    }
    const status = this.#policy.preEnqueue(schedulingEntity);
    if (status !== undefined) {
      this.#stores.leave(entity);
      this.#stores.gate(entity, status, event);
      this.#stores.retries.release(entity);
      return;
    }
    const isPartial = isPartiallyBound(schedulingEntity);
    if (isPartial !== entity.sortKey.incomplete) {
      this.#stores.leave(entity);
      this.#stores.retries.release(entity);
      entity.sortKey = this.#policy.sortKey(schedulingEntity, entity.readySince ?? now);
      // The first attempt starts at once. After an error it waits for the backoff, because a gang that alternates would retry endlessly.
      if (kind === 'active' || (isPartial && entity.errors === 0)) this.#stores.activate(entity, event);
      else this.#stores.backOff(entity, event, entity.errors > 0);
      return;
    }
    if (!asksElse) return;
    if (kind === 'unschedulable') {
      this.#stores.leave(entity);
      this.#stores.backOff(entity, event, false);
    } else {
      this.#stores.retries.release(entity);
    }
  }

  /** Retries the entity of this pod, and no other, after its backoff: something may have helped it. */
  wake(pod: Pod, event: string): void {
    const entity = this.#entityOf(pod);
    if (entity?.state.kind !== 'unschedulable') return;
    entity.awaited = undefined;
    this.#stores.leave(entity);
    this.#stores.backOff(entity, event, false);
  }

  /** Retries each entity with a rejected pod of this template, after its backoff, whichever plugins rejected it. */
  retryAlike(template: PodTemplate, event: string): void {
    this.retryWhere(({ rejectedPods }) => rejectedPods.some((pod) => pod.template === template), event);
  }

  /** Retries each entity that this helps, after its backoff, whichever plugins rejected it. */
  retryWhere(helps: (rejection: Rejection) => boolean, event: string): void {
    const { classes, retries, underWay } = this.#stores;
    for (const entity of underWay.entities()) entity.triesAgain = true;
    const helped = [...classes].filter(({ isIdle, rejection }) => isIdle && helps(rejection));
    if (helped.length > 0) retries.wake(helped, event);
  }

  /**
   * Retries the entity of this pod now: skips the rest of its backoff, and runs PreEnqueue again if the entity is gated. If an attempt is in
   * progress, it finishes first; if it fails, the queue retries the entity after its backoff.
   */
  activate(pod: Pod): void {
    const entity = this.#entityOf(pod);
    switch (entity?.state.kind) {
      case 'backoff':
      case 'unschedulable':
        this.#stores.leave(entity);
        this.#stores.activate(entity, activateEvent);
        entity.isActivated = true;
        break;
      case 'gated':
        entity.isActivated = true;
        this.#admit(entity, activateEvent, this.#clock.now());
        break;
      case 'inFlight':
      case 'setAside':
        entity.triesAgain = true;
        break;
      case 'active':
        entity.isActivated = true;
        break;
      case undefined:
        break;
    }
  }

  /** Gives an entity the history and the place that it had in another queue. Gates and demand are its own. */
  restore(
    key: EntityKey,
    { sortKey, ...history }: Pick<QueuedEntity, 'sortKey' | 'readySince' | 'since' | 'attempts'>,
  ): void {
    const entity = this.#entities.get(key);
    if (entity === undefined) return;
    Object.assign(entity, history);
    const isGated = entity.state.kind === 'gated';
    if (!isGated) this.#stores.leave(entity);
    entity.sortKey = sortKey;
    if (isGated) return;
    this.#stores.activate(entity, 'Restored');
  }

  /** Removes an entity that is deleted or must not be scheduled anymore. */
  remove(key: EntityKey): void {
    const entity = this.#entities.get(key);
    if (entity === undefined) return;
    this.#remove(entity);
    this.#observer.removed(key);
  }

  #remove(entity: QueuedEntity): void {
    const { key } = entity;
    this.#entities.delete(key);
    this.#stores.leave(entity);
    if (this.#stores.underWay.isInFlight(entity)) this.#stores.underWay.end(entity);
    this.#stores.retries.release(entity);
  }

  /**
   * Returns the next entity, now in flight. Its cycle must end in `done`, `failed`, `notReady` or `setAside` before the next pop. If no
   * entity is active, takes one that backs off after a rejection early, because an idle scheduler need not wait.
   */
  pop(): QueuedEntity | undefined {
    this.#stores.underWay.mustBeFree();
    const entity = this.#stores.take();
    if (entity === undefined) return undefined;
    entity.state = { kind: 'inFlight' };
    entity.attempts++;
    this.#stores.underWay.begin(entity);
    return entity;
  }

  /**
   * Sets the entity in flight aside until `resume`, because its attempt waits for an external response. Until then,
   * `upsert` keeps updating it. Calls `left` if it leaves the queue before `resume`.
   */
  setAside(entity: QueuedEntity, left: () => void): void {
    const events = this.#stores.underWay.end(entity);
    if (this.#entities.get(entity.key) !== entity) {
      left();
      return;
    }
    entity.state = { kind: 'setAside' };
    this.#stores.underWay.setAside(entity, events, left);
  }

  /** Continues an attempt: the entity is in flight again, with all events since. Returns false if it has left the queue. */
  resume(entity: QueuedEntity): boolean {
    const isBack = this.#stores.underWay.resume(entity);
    if (isBack) entity.state = { kind: 'inFlight' };
    return isBack;
  }

  /** Returns whether `a` ranks before `b`. */
  goesFirst(a: QueuedEntity, b: QueuedEntity): boolean {
    return this.#policy.compare(a.sortKey, b.sortKey) < 0;
  }

  /** Returns all entities that are not gated, in the order of QueueSort. Sorts them, in O(n log n): for a user who asks. */
  inOrder(): readonly QueuedEntity[] {
    const ready = [...this.#entities.values()].filter(({ state }) => state.kind !== 'gated');
    return ready.sort((a, b) => this.#policy.compare(a.sortKey, b.sortKey));
  }

  /** Returns how many entities that are not gated rank before this one. Compares it with each, in O(n): for a user who asks. */
  ahead(entity: QueuedEntity): number {
    let count = 0;
    for (const other of this.#entities.values())
      if (other !== entity && other.state.kind !== 'gated' && this.goesFirst(other, entity)) count++;
    return count;
  }

  /** Number of entities that were rejected without an attempt, because they joined an equivalence class. */
  get joined(): number {
    return this.#joined;
  }

  /** Reports that the entity in flight was scheduled. */
  done(entity: QueuedEntity): void {
    if (entity.isFlushed) this.#flushed++;
    this.#remove(entity);
  }

  /** Reports that the entity in flight is not ready: it is gated again. */
  notReady(entity: QueuedEntity): void {
    this.#stores.underWay.end(entity);
    entity.attempts--;
    this.#admit(entity, 'NotReady', this.#clock.now());
    this.#stores.retries.release(entity);
  }

  /** Reports that the entity in flight failed. */
  failed(entity: QueuedEntity, failure: Failure): void {
    entity.awaited = failure.awaited;
    this.#failed(entity, rejectionOf(entity.schedulingEntity, failure), failure);
  }

  #failed(entity: QueuedEntity, rejection: Rejection, failure: Joining & Pick<Failure, 'error'>): void {
    const events = this.#stores.underWay.end(entity).filter((event) => !isAwaited(entity, event));
    if (this.#entities.get(entity.key) !== entity) return;
    entity.failedAt = this.#clock.monotonic();
    countFailure(entity, failure.error, entity.failedAt, this.#errorsHoldMs);
    entity.rejection = rejection;
    entity.isFlushed = false;
    entity.isActivated = false;
    const { triesAgain } = entity;
    entity.triesAgain = false;
    const status = this.#policy.preEnqueue(entity.schedulingEntity);
    if (status !== undefined) {
      this.#stores.gate(entity, status, 'ScheduleAttemptFailure');
      this.#stores.retries.release(entity);
      return;
    }
    entity.sortKey = this.#policy.sortKey(entity.schedulingEntity, entity.readySince ?? this.#clock.now());
    if (failure.error || triesAgain) this.#stores.retries.release(entity);
    const mustRetry = failure.error || triesAgain ? 'afterBackoff' : undefined;
    const retry = this.#policy.hints(entity.schedulingEntity).retryAfterAny(events, rejection) ?? mustRetry;
    if (retry === undefined) this.#stores.park(entity, failure);
    else if (retry === 'atOnce' && !failure.error) this.#stores.activate(entity, 'ScheduleAttemptFailure');
    else this.#stores.backOff(entity, 'ScheduleAttemptFailure', failure.error);
  }

  /**
   * Returns the equivalence class of this key if the entity must join it without an attempt. Either the class's last rejection still holds and
   * was found on these nodes, or one of its entities ranks first and will be tried on behalf of all.
   */
  classToJoin(entity: QueuedEntity, key: string, nodesRevision: number): EquivalenceClass | undefined {
    const found = entity.isActivated ? undefined : this.#stores.classes.withKey(key);
    if (found === undefined) return undefined;
    const { representative, rank } = found;
    if (found.isIdle) return found.report?.nodesRevision === nodesRevision ? found : undefined;
    if (representative !== undefined)
      return representative.state.kind === 'backoff' && this.goesFirst(representative, entity) ? found : undefined;
    return rank !== undefined && this.#policy.compare(rank, entity.sortKey) < 0 ? found : undefined;
  }

  /** True if there are equivalence classes that an entity may join. */
  get hasSharedClasses(): boolean {
    return this.#stores.classes.hasShared;
  }

  /** Returns the equivalence class in which the entity waits, or which it represents. */
  classOf(entity: QueuedEntity): EquivalenceClass | undefined {
    return this.#stores.classes.of(entity);
  }

  /** Lets the entity in flight join the class without an attempt. Activates a representative that backs off or is due. */
  join(entity: QueuedEntity, joined: EquivalenceClass): void {
    entity.attempts--;
    entity.rejections--;
    this.#joined++;
    const { isIdle, key } = joined;
    this.#failed(entity, joined.rejection, { error: false, key });
    if (!isIdle) this.#stores.bringForward(joined);
  }

  /**
   * Requeues a pod or gang whose assumption was released after its attempt had ended. It returns after a backoff, with the history of the
   * entity it was planned as (`own`). The rest of a partially bound gang gets its first attempt at once, before another entity takes its
   * capacity, unless the gang is not partially bound anymore. Has no effect if the entity is already queued otherwise.
   */
  comeBack(schedulingEntity: SchedulingEntity, own: AttemptHistory, failure: Failure): void {
    const key = entityKeyOf(schedulingEntity);
    const queued = this.#entities.get(key);
    if (queued !== undefined) {
      if (queued.state.kind !== 'active' || !queued.sortKey.incomplete || isPartiallyBound(schedulingEntity)) return;
      this.remove(key);
    }
    const past = longestHistory(schedulingEntity, own, (uid) => this.#entities.get(`pod/${uid}`));
    const readySince = past.readySince ?? this.#clock.now();
    const { attempts, rejections, errors, erredAt } = past;
    const failedAt = this.#clock.monotonic();
    const rejection = rejectionOf(schedulingEntity, failure);
    const known = { readySince, attempts, rejections, errors, erredAt, failedAt, rejection };
    const entity = newEntity(schedulingEntity, this.#policy.sortKey(schedulingEntity, readySince), readySince, known);
    this.#entities.set(key, entity);
    if (entity.sortKey.incomplete && past.errors === 0) {
      countFailure(entity, true, entity.failedAt, this.#errorsHoldMs);
      this.#admit(entity, 'BindingFailed', this.#clock.now());
      return;
    }
    this.failed(entity, { ...failure, error: true });
  }

  /** Moves every entity that the event may help to the active queue, or to the backoff queue first. */
  moveOnEvent(event: ClusterEvent): void {
    if (this.#policy.ignores(event)) return;
    this.#stores.underWay.add(event);
    const label = `${event.resource}${event.action}`;
    // The entity itself has not changed, so a gate that opens and closes must not skip its backoff.
    for (const entity of this.#stores.ungatedBy(event)) this.#admit(entity, label, this.#clock.now(), true);
    const { classes, retries } = this.#stores;
    if (classes.size === 0) return;
    const helped = classes.helpedBy(event);
    if (helped.size === 0) return;
    // An entity that waits for pods shares its rejection with no other.
    retries.wake(
      [...helped].filter(({ first }) => first === undefined || !isAwaited(first, event)),
      label,
    );
  }

  /** event -> number of events stored for attempts in progress */
  get eventsInFlight(): ReadonlyMap<string, number> {
    return this.#stores.underWay.counts;
  }

  /** Starts the periodic flush. */
  start(): void {
    this.#flushTimer = this.#clock.setTimer(flushIntervalMs, () => {
      this.#stores.retries.flush(this.#maxUnschedulableMs);
      this.start();
    });
  }

  stop(): void {
    this.#flushTimer?.cancel();
    this.#stores.stop();
  }

  #admit(entity: QueuedEntity, event: string, now: number, hasPenalty = false): void {
    const status = this.#policy.preEnqueue(entity.schedulingEntity);
    if (status !== undefined) {
      this.#stores.gate(entity, status, event);
      return;
    }
    this.#stores.ungate(entity);
    entity.readySince ??= now;
    entity.sortKey = this.#policy.sortKey(entity.schedulingEntity, entity.readySince);
    if (hasPenalty) this.#stores.backOff(entity, event, entity.errors > 0);
    else this.#stores.activate(entity, event);
  }

  #entityOf(pod: Pod): QueuedEntity | undefined {
    const ofGroup = pod.podGroupKey === undefined ? undefined : this.#entities.get(`gang/${pod.podGroupKey}`);
    return ofGroup ?? this.#entities.get(`pod/${pod.uid}`);
  }

  /** Returns whether a plugin that rejected the entity last is certain to reject it again, for a reason it has reported. */
  isRuledOut({ schedulingEntity, rejection, isActivated }: QueuedEntity): boolean {
    return (
      rejection.unschedulablePlugins.size > 0 &&
      !isActivated &&
      this.#policy.hints(schedulingEntity).rulesOut(rejection)
    );
  }
}

function isPartiallyBound(schedulingEntity: SchedulingEntity): boolean {
  return schedulingEntity.kind === 'gang' && schedulingEntity.gang.comesFirst;
}

/** Returns whether the event is about a pod that the entity waits for. A change of what the pod requests counts like that of any other pod. */
function isAwaited({ awaited }: QueuedEntity, event: ClusterEvent): boolean {
  if (awaited === undefined || event.resource !== 'AssignedPod' || !awaited.has(event.pod.uid)) return false;
  return event.action !== 'Update' || event.old.template === event.pod.template;
}
