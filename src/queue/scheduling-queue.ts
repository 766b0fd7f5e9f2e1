import type { Pod } from '../api/pod.ts';
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
  /** An entity that no event has helped for so long is tried again; default 5 minutes. A safety net that counts as a missed hint. */
  readonly maxUnschedulableMs?: number;
}

const flushIntervalMs = 30_000;
const activateEvent = 'ForceActivate';

/** What is known of a change of a candidate. */
export interface EntityChange {
  /** When its entity counts as ready if this makes it so, milliseconds since the epoch; default now. */
  readonly since?: number;
  /** It asks for something else than before: what it was told no longer holds. */
  readonly asksElse?: boolean;
}

/**
 * Entities that wait to be scheduled, in kube-scheduler's three stores plus the gated ones.
 *
 * A failure costs back-off, not rank: a failed entity leaves the active store until an event may help it, so nothing is
 * blocked behind it. Events that arrive while an entity's cycle runs are replayed when it fails.
 */
export class SchedulingQueue {
  readonly #clock: Clock;
  readonly #policy: QueuePolicy;
  readonly #maxUnschedulableMs: number;
  /** A rejection so long after the last error ends its row. */
  readonly #errorsHoldMs: number;
  /** key -> entity, wherever it is */
  readonly #entities = new Map<EntityKey, QueuedEntity>();
  readonly #stores: QueueStores;
  #flushTimer: Timer | undefined;
  #flushed = 0;
  #joined = 0;

  constructor(options: SchedulingQueueOptions) {
    this.#clock = options.clock;
    this.#policy = options.policy;
    this.#maxUnschedulableMs = options.maxUnschedulableMs ?? 5 * 60_000;
    const { clock, policy, observer, backoff = { initialMs: 1000, maxMs: 10_000 } } = options;
    this.#errorsHoldMs = 2 * backoff.maxMs;
    this.#stores = new QueueStores({ clock, policy, observer, backoff });
  }

  /** Entities by store, as the pending_pods metric names them. */
  get sizes(): QueueStores['sizes'] {
    return this.#stores.sizes;
  }

  /** Entities that were scheduled when only the flush retried them: hints that were missed. */
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
   * The candidate exists and wants to be scheduled, or something about it changed: PreEnqueue is asked again and decides
   * whether it is gated; if it waits for an event and asks for something else now, it is tried again. Rank is kept: `readySince`
   * (milliseconds since the epoch) counts from the first time it was ready. Only a gang that comes to be on nodes in part
   * goes before all others from then on, and that no longer when it is so no more.
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
    const isPartial = isOnNodesInPart(schedulingEntity);
    if (isPartial !== entity.sortKey.incomplete) {
      this.#stores.leave(entity);
      this.#stores.retries.release(entity);
      entity.sortKey = this.#policy.sortKey(schedulingEntity, entity.readySince ?? now);
      // A first chance at once; unless an error has to be sat out, or others might see it flip without end.
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

  /** Something may have helped whoever waits with this pod, and no other: it is tried again, once its penalty is over. */
  wake(pod: Pod, event: string): void {
    const entity = this.#entityOf(pod);
    if (entity?.state.kind !== 'unschedulable') return;
    this.#stores.leave(entity);
    this.#stores.backOff(entity, event, false);
  }

  /**
   * Somebody knows that whoever waits with this pod is to be tried now: whatever is left of its penalty is forgiven, and PreEnqueue is
   * asked again if it had rejected. An attempt that is under way decides first; if it fails, there is another after its penalty.
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

  /** The candidate is gone, or no longer to be scheduled. */
  remove(key: EntityKey): void {
    const entity = this.#entities.get(key);
    if (entity === undefined) return;
    this.#entities.delete(key);
    this.#stores.leave(entity);
    if (this.#stores.underWay.isInFlight(entity)) this.#stores.underWay.end(entity);
    this.#stores.retries.release(entity);
  }

  /**
   * The next entity, now in flight: its cycle must end in `done`, `failed`, `notReady` or `setAside` before the next pop. When
   * nothing is active an entity that backs off after a rejection is taken early: an idle scheduler need not wait.
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
   * The attempt of the entity in flight waits for somebody outside, until `resume`. Its candidate is kept up to date meanwhile;
   * `left` is called when it leaves the queue before.
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

  /** The attempt goes on: the entity is in flight again, with all that happened meanwhile. False when it has left the queue. */
  resume(entity: QueuedEntity): boolean {
    const isBack = this.#stores.underWay.resume(entity);
    if (isBack) entity.state = { kind: 'inFlight' };
    return isBack;
  }

  /** Whether `a` is to be tried before `b`. */
  goesFirst(a: QueuedEntity, b: QueuedEntity): boolean {
    return this.#policy.compare(a.sortKey, b.sortKey) < 0;
  }

  /** How many entities were rejected without an attempt, because they joined an equivalence class. */
  get joined(): number {
    return this.#joined;
  }

  /** The entity in flight was scheduled. */
  done(entity: QueuedEntity): void {
    if (entity.isFlushed) this.#flushed++;
    this.remove(entity.key);
  }

  /** The entity in flight turned out not to be ready: it waits outside the queue again. */
  notReady(entity: QueuedEntity): void {
    this.#stores.underWay.end(entity);
    entity.attempts--;
    this.#admit(entity, 'NotReady', this.#clock.now());
    this.#stores.retries.release(entity);
  }

  /** The entity in flight failed. */
  failed(entity: QueuedEntity, failure: Failure): void {
    this.#failed(entity, rejectionOf(entity.schedulingEntity, failure), failure);
  }

  #failed(entity: QueuedEntity, rejection: Rejection, failure: Joining & Pick<Failure, 'error'>): void {
    const events = this.#stores.underWay.end(entity);
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
   * The equivalence class of this key, if the entity has to join it without an attempt: its last rejection stands and was found on
   * these nodes, or one of its entities goes first and is to be tried for all of them.
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

  /** Whether there are equivalence classes that an entity may join. */
  get hasSharedClasses(): boolean {
    return this.#stores.classes.hasShared;
  }

  /** The equivalence class in which the entity waits, or whose representative it is. */
  classOf(entity: QueuedEntity): EquivalenceClass | undefined {
    return this.#stores.classes.of(entity);
  }

  /** The entity in flight joins the class without an attempt. A representative that backs off, or is due, is active from now on. */
  join(entity: QueuedEntity, joined: EquivalenceClass): void {
    entity.attempts--;
    entity.rejections--;
    this.#joined++;
    const { isIdle, key } = joined;
    this.#failed(entity, joined.rejection, { error: false, key });
    if (!isIdle) this.#stores.bringForward(joined);
  }

  /**
   * A candidate whose assumption was given up after its attempt had ended: it comes back after a back-off, with the history that it had as
   * what it was planned as (`own`). The rest of a group that is partly on nodes gets its first chance at once, before somebody else takes
   * its room; not when meanwhile none of it is any more. Does nothing when it is queued otherwise.
   */
  comeBack(schedulingEntity: SchedulingEntity, own: AttemptHistory, failure: Failure): void {
    const key = entityKeyOf(schedulingEntity);
    const queued = this.#entities.get(key);
    if (queued !== undefined) {
      if (queued.state.kind !== 'active' || !queued.sortKey.incomplete || isOnNodesInPart(schedulingEntity)) return;
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

  /** The cluster changed: whatever the event may help becomes active, or backs off first. */
  moveOnEvent(event: ClusterEvent): void {
    if (this.#policy.ignores(event)) return;
    this.#stores.underWay.add(event);
    const label = `${event.resource}${event.action}`;
    // Nothing about it has changed: a gate that opens and shuts spares no entity the penalty for what has failed.
    for (const entity of this.#stores.ungatedBy(event)) this.#admit(entity, label, this.#clock.now(), true);
    const { classes, retries } = this.#stores;
    if (classes.size === 0) return;
    const helped = classes.helpedBy(event);
    if (helped.size > 0) retries.wake(helped, label);
  }

  /** event -> how many are kept for entities whose attempts are under way */
  get eventsInFlight(): ReadonlyMap<string, number> {
    return this.#stores.underWay.counts;
  }

  /** Starts the safety net. */
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

  /** Whether a plugin that rejected the entity last is certain that it would again, for a reason that it has given. */
  isRuledOut({ schedulingEntity, rejection, isActivated }: QueuedEntity): boolean {
    return (
      rejection.unschedulablePlugins.size > 0 &&
      !isActivated &&
      this.#policy.hints(schedulingEntity).rulesOut(rejection)
    );
  }
}

function isOnNodesInPart(schedulingEntity: SchedulingEntity): boolean {
  return schedulingEntity.kind === 'gang' && schedulingEntity.gang.incomplete;
}
