import { parseGroupKey } from '../../api/group-key.ts';
import type { Clock } from '../../base/clock.ts';
import { DueTimes } from '../../base/due-times.ts';
import { Heap } from '../../base/heap.ts';
import type { ReservationsConfiguration } from '../../config/scheduler-configuration.ts';
import type { EquivalenceClass } from '../../queue/equivalence/equivalence-class.ts';
import type { EntityKey, QueuedEntity } from '../../queue/queued-entity.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import type { Pool, Pools } from './pools.ts';
import type { Turn } from './turn.ts';
import { WaitingEntity } from './waiting-entity.ts';

export interface TurnOrderOptions {
  readonly queue: Pick<SchedulingQueue, 'get' | 'goesFirst' | 'classOf' | 'activate'>;
  readonly clock: Clock;
  readonly pools: Pools;
  /** entity -> its turn */
  readonly turns: ReadonlyMap<EntityKey, Turn>;
  /** Called when an entity is found that no longer waits. */
  readonly left: (key: EntityKey) => void;
}

/** An entity for which a prediction may be made. */
interface Candidate {
  readonly entity: QueuedEntity;
  readonly isRetry: boolean;
  /** Clock.monotonic() when a prediction failed last in its namespace; 0: none has. */
  readonly failedAt: number;
}

/** Minimum time between two searches through the waiting entities. */
const chooseEveryMs = 1_000;
/** How long no other entity is tried after a prediction for one has failed: most of those behind it are like it. */
const pauseMs = 10_000;

/**
 * The entities that wait for capacity, and which of them may have a turn: as many as there are pools, in queue order. When the time has come for
 * one, its prediction is due: the queue tries it, and its attempt predicts.
 */
export class TurnOrder {
  readonly #options: TurnOrderOptions;
  /** entity -> what is known of it while it waits for capacity */
  readonly #waiting = new Map<EntityKey, WaitingEntity>();
  /** Entities whose next attempt predicts. */
  readonly #due = new Set<EntityKey>();
  /** namespace of entities that wait -> Clock.monotonic() when a prediction for one of the namespace's entities failed last */
  readonly #failedAt = new Map<string, number>();
  /** Due when turns may be given to other entities. */
  readonly #choices: DueTimes<'choice'>;
  #chosenAt = -Infinity;
  /** Clock.monotonic() before which no entity gets a turn, because a prediction has failed. */
  #pausedUntil = -Infinity;

  constructor(options: TurnOrderOptions) {
    this.#options = options;
    this.#choices = new DueTimes(options.clock, () => this.#choose());
  }

  stop(): void {
    this.#choices.stop();
  }

  /** Returns the entity if it waits for capacity. */
  entity(key: EntityKey): QueuedEntity | undefined {
    return this.#waiting.get(key)?.entity;
  }

  /** The entity waits for capacity. `settings`: those of its profile. */
  add(entity: QueuedEntity, settings: ReservationsConfiguration): WaitingEntity {
    const waiting = this.waitingEntity(entity, settings);
    this.#waiting.set(entity.key, waiting);
    return waiting;
  }

  remove(key: EntityKey): void {
    this.#waiting.delete(key);
    if (this.#due.delete(key)) this.chooseAt(-Infinity);
  }

  /** Returns what is known of the entity, whether or not it was added. */
  waitingEntity(entity: QueuedEntity, { reserveAfterMs, drainAfterMs }: ReservationsConfiguration): WaitingEntity {
    const known = this.#waiting.get(entity.key);
    if (known?.entity === entity) return known;
    const { clock } = this.#options;
    // The wall clock may have jumped back.
    const readyAt = clock.monotonic() - Math.max(0, clock.now() - entity.sortKey.readySince);
    return new WaitingEntity({ entity, reserveAt: readyAt + reserveAfterMs, drainAt: readyAt + drainAfterMs });
  }

  isDue(key: EntityKey): boolean {
    return this.#due.has(key);
  }

  makeDue(entity: QueuedEntity): void {
    this.#due.add(entity.key);
    this.activate(entity);
  }

  /** The prediction of the entity was made, or is not needed. */
  endDue(key: EntityKey): void {
    this.#due.delete(key);
  }

  /** A prediction found no capacity for the entity. */
  failed(waiting: WaitingEntity): void {
    const { clock } = this.#options;
    this.#failedAt.set(namespaceOf(waiting.entity), clock.monotonic());
    this.#pausedUntil = clock.monotonic() + pauseMs;
    waiting.failed(clock.monotonic(), this.openTo(waiting.entity).length, this.#closedTo(waiting.entity));
    this.chooseAt(-Infinity);
  }

  /** Returns whether the entity is in the queue and may be scheduled. */
  isQueued(entity: QueuedEntity): boolean {
    return this.#options.queue.get(entity.key) === entity && entity.state.kind !== 'gated';
  }

  /** Returns whether the turn is of an entity behind this one. */
  isBehind(turn: Turn, entity: QueuedEntity): boolean {
    const holder = this.entity(turn.key);
    return holder === undefined || this.#options.queue.goesFirst(entity, holder);
  }

  /** Returns the pools without a turn, or with that of an entity behind this one, in a fixed order. */
  openTo(entity: QueuedEntity): readonly Pool[] {
    const closed = new Set(this.#closedTo(entity));
    return this.#options.pools.all.filter(({ name }) => !closed.has(name));
  }

  /**
   * Returns whether the entity may have a turn now although it was not chosen, because none is ahead of it. One that had its turn when another process was
   * the leader gets it back in its first attempt, even if the prediction for one ahead of it has just failed: pods behind it must not take its capacity.
   */
  isFirst(entity: QueuedEntity, settings: ReservationsConfiguration): boolean {
    const now = this.#options.clock.monotonic();
    // Entities that wait may be ahead of this one.
    const mustWait = this.#choices.dueAt('choice') <= now + chooseEveryMs || now < this.#pausedUntil;
    if (mustWait && !(entity.attempts === 1 && showsTurn(entity))) return false;
    return this.#isReady(this.waitingEntity(entity, settings)) && this.isNext(entity);
  }

  /** Returns whether fewer entities ahead of this one have a turn, or are about to get one, than there are pools. */
  isNext(entity: QueuedEntity): boolean {
    const { queue, pools, turns } = this.#options;
    if (turns.size + this.#due.size < pools.all.length) return true;
    let ahead = 0;
    for (const key of new Set([...turns.keys(), ...this.#due])) {
      const other = this.entity(key);
      if (other !== undefined && other !== entity && queue.goesFirst(other, entity)) ahead++;
    }
    return ahead < pools.all.length;
  }

  /** Considers the waiting entities at this Clock.monotonic(); as soon as possible if it has passed. */
  chooseAt(time: number): void {
    const at = Math.max(this.#options.clock.monotonic(), time, this.#pausedUntil, this.#chosenAt + chooseEveryMs);
    if (at < this.#choices.dueAt('choice')) this.#choices.set('choice', at, undefined);
  }

  /** Lets the queue try the entity now. */
  activate({ schedulingEntity }: QueuedEntity): void {
    const pods = schedulingEntity.kind === 'pod' ? [schedulingEntity.pod] : schedulingEntity.gang.pending.values();
    for (const pod of pods) {
      this.#options.queue.activate(pod);
      return;
    }
  }

  /**
   * Makes predictions due for the first entities in queue order, and for those of the namespaces in which no prediction has failed for longest: one
   * namespace cannot keep others from a turn with many entities that no prediction helps. Within a namespace, those that would only repeat a failed
   * prediction come last. One of each equivalence class is enough.
   */
  #choose(): void {
    const { clock, queue, turns, left } = this.#options;
    this.#chosenAt = clock.monotonic();
    let next = Infinity;
    const inOrder = (a: Candidate, b: Candidate): number => (queue.goesFirst(a.entity, b.entity) ? -1 : 1);
    const inTurn = (a: Candidate, b: Candidate): number =>
      a.failedAt - b.failedAt || Number(a.isRetry) - Number(b.isRetry) || inOrder(a, b);
    const ready = [new Heap(inTurn), new Heap(inOrder)];
    const namespaces = new Set<string>();
    /** class -> the first of its entities for which a prediction has failed */
    const failed = new Map<EquivalenceClass, QueuedEntity>();
    for (const [key, waiting] of this.#waiting) {
      const { entity } = waiting;
      if (!this.isQueued(entity)) {
        left(key);
        continue;
      }
      const namespace = namespaceOf(entity);
      namespaces.add(namespace);
      if (turns.has(key) || this.#due.has(key)) continue;
      const isRetry = waiting.isRetry(this.#isOpenTo(entity));
      const of = isRetry ? queue.classOf(entity) : undefined;
      const known = of && failed.get(of);
      if (of !== undefined && (known === undefined || queue.goesFirst(entity, known))) failed.set(of, entity);
      if (!this.#isReady(waiting)) next = Math.min(next, waiting.notBefore);
      else if (this.isNext(entity))
        for (const heap of ready) heap.push({ entity, isRetry, failedAt: this.#failedAt.get(namespace) ?? 0 });
    }
    for (const namespace of this.#failedAt.keys()) if (!namespaces.has(namespace)) this.#failedAt.delete(namespace);
    for (const heap of ready) {
      for (let first = heap.pop(); first !== undefined && this.isNext(first.entity); first = heap.pop()) {
        const of = queue.classOf(first.entity);
        const alike = of && failed.get(of);
        if (alike === undefined || !queue.goesFirst(alike, first.entity)) this.makeDue(first.entity);
      }
    }
    if (next < Infinity) this.chooseAt(next);
  }

  /** Returns the pools in which an entity ahead of this one has its turn. */
  #closedTo(entity: QueuedEntity): string[] {
    const turns = [...this.#options.turns.values()];
    return turns.flatMap((turn) => (turn.key === entity.key || this.isBehind(turn, entity) ? [] : [turn.pool]));
  }

  /** Returns a function that returns whether the pool has no turn, or that of an entity behind this one. */
  #isOpenTo(entity: QueuedEntity): (pool: string) => boolean {
    let closed: Set<string> | undefined;
    return (pool) => !(closed ??= new Set(this.#closedTo(entity))).has(pool);
  }

  #isReady(waiting: WaitingEntity): boolean {
    return waiting.isReady(this.#options.clock.monotonic(), this.#isOpenTo(waiting.entity));
  }
}

function namespaceOf({ schedulingEntity }: QueuedEntity): string {
  return schedulingEntity.kind === 'pod'
    ? schedulingEntity.pod.namespace
    : parseGroupKey(schedulingEntity.gang.key).namespace;
}

/** Returns whether the API shows a predicted start on a pod of the entity. */
function showsTurn({ schedulingEntity }: QueuedEntity): boolean {
  if (schedulingEntity.kind === 'pod') return schedulingEntity.pod.predictedStart !== undefined;
  for (const { predictedStart } of schedulingEntity.gang.pending.values())
    if (predictedStart !== undefined) return true;
  return false;
}
