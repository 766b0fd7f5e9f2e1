import type { Clock } from '../../base/clock.ts';
import type { QueueKey } from '../../framework/scheduling-entity.ts';
import type { ClusterEvent } from '../../framework/cluster-event.ts';
import type { EventHints } from '../../framework/event-hints.ts';
import { oneOfEachClass } from '../../framework/one-of-each-class.ts';
import type { QueuedEntity, UnschedulableState } from '../queued-entity.ts';
import { EquivalenceClass } from './equivalence-class.ts';
import { RejectionIndex } from './rejection-index.ts';

export interface EquivalenceClassesOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly compare: (a: QueueKey, b: QueueKey) => number;
}

/** How a rejected entity joins a class. */
export interface Joining {
  /** Undefined: the entity gets a class of its own. */
  readonly key?: string | undefined;
  /** True if a plugin ruled the entity out without an attempt. */
  readonly isStale?: boolean;
}

/**
 * The unschedulable store of the queue, by equivalence class. **The contract of this folder:**
 *
 * - **What a class is.** Entities with the same demand that were rejected for the same reason: one attempt decides for all of them.
 * - **Which entities share one.** Entities with equal keys (`EquivalenceKeys`): same profile, number of members needed, minResources, and the
 *   same signatures, priority and volumes of the members. Signatures contain the namespace if it matters to the plugin. If nodes have
 *   rejected pods like the members, the key contains the namespace too. An entity without a key gets a class of its own. It has no key if its
 *   result may depend on more: a plugin that does not sign, extenders, bound members, or a reservation for it. A rejection with
 *   nominations by PostFilter is not shared: the entity leaves its class, and the next one follows.
 * - **Joining.** A new entity whose key matches an idle class is rejected without an attempt (`SchedulingQueue.classToJoin`). If nodes have
 *   changed since the last attempt, the entity is tried first, because the cause may differ.
 * - **When the rejection ends.** A queueing hint of a plugin that rejected the class expects an event to help, and the plugins do not
 *   rule the class out (`EventHints.rulesOut`); or a flush interval has passed (`ClassRetries.flush`). The first entity by rank then
 *   leaves as the *representative* and is tried. If it is rejected with the same key it returns, and the others stay. If it is
 *   scheduled, or leaves for another reason, the next one follows. An entity that joins while the representative waits or backs off
 *   sends the representative at once, so that no later entity overtakes it.
 * - **Which entities are notified.** Each entity that joins gets the class's verdict, worded for its own members (`ClassReport.verdictFor`).
 *   When the representative is rejected for another cause, `ClassNotifications` notifies all others, 20 per second.
 */
export class EquivalenceClasses implements Iterable<EquivalenceClass> {
  readonly #options: EquivalenceClassesOptions;
  /** key -> class that other entities may join */
  readonly #shared = new Map<string, EquivalenceClass>();
  readonly #classes = new Set<EquivalenceClass>();
  /** entity -> class in which it waits, or which it represents */
  readonly #classOf = new Map<QueuedEntity, EquivalenceClass>();
  /** Index of the idle classes. */
  readonly #index = new RejectionIndex();
  #size = 0;

  constructor(options: EquivalenceClassesOptions) {
    this.#options = options;
  }

  /** Number of waiting entities. */
  get size(): number {
    return this.#size;
  }

  [Symbol.iterator](): Iterator<EquivalenceClass> {
    return this.#classes.values();
  }

  /** True if there are classes that other entities may join. */
  get hasShared(): boolean {
    return this.#shared.size > 0;
  }

  /** Returns the class in which the entity waits, or which it represents. */
  of(entity: QueuedEntity): EquivalenceClass | undefined {
    return this.#classOf.get(entity);
  }

  withKey(key: string): EquivalenceClass | undefined {
    return this.#shared.get(key);
  }

  /** Adds the entity to the class of this key. Its rejection then holds for the whole class. */
  add(entity: QueuedEntity, { key, isStale = false }: Joining, hints: EventHints): EquivalenceClass {
    const joined = this.#classFor(entity, key, hints);
    const state: UnschedulableState = { kind: 'unschedulable', since: this.#options.clock.monotonic() };
    entity.state = state;
    this.#classOf.set(entity, joined);
    joined.add(entity, state);
    this.#size++;
    if (joined.representative === entity) joined.representative = undefined;
    else if (joined.size > 1 && joined.rejection === entity.rejection) return joined;
    this.#index.remove(joined);
    if (!isStale) joined.since = state.since;
    joined.rejection = entity.rejection;
    joined.rejected = entity;
    joined.skipsBackoff = false;
    joined.isStale = isStale;
    if (joined.isIdle) this.#index.add(joined);
    return joined;
  }

  /** Removes the entity that waits with this state, other than as representative; the caller sets its new state. */
  leave(entity: QueuedEntity, state: UnschedulableState): void {
    this.#size--;
    const left = this.#classOf.get(entity)!;
    this.#classOf.delete(entity);
    left.leave(state);
    if (left.rejected === entity) this.#replaceRejected(left);
    this.#dropIfEmpty(left);
  }

  /** Marks the class as woken: its representative is due. */
  wake(woken: EquivalenceClass): void {
    woken.isWoken = true;
    this.#index.remove(woken);
  }

  /** Makes the next entity the representative; the caller sets its new state. Returns undefined if no entity waits. */
  takeRepresentative(from: EquivalenceClass): QueuedEntity | undefined {
    this.#index.remove(from);
    from.isWoken = false;
    const entity = from.take();
    from.representative = entity;
    if (entity === undefined) this.#dropIfEmpty(from);
    else this.#size--;
    return entity;
  }

  /** Drops the representative, which will not return. Returns whether other entities wait. */
  release(released: EquivalenceClass): boolean {
    const { representative } = released;
    if (representative !== undefined && this.#classOf.get(representative) === released)
      this.#classOf.delete(representative);
    released.representative = undefined;
    this.#dropIfEmpty(released);
    return released.size > 0;
  }

  /** Returns the idle classes that the event may help. Marks a class that a plugin rules out as stale instead. */
  helpedBy(event: ClusterEvent): ReadonlySet<EquivalenceClass> {
    const helped = this.#index.helpedBy(event);
    for (const each of helped) {
      if (!each.hints.rulesOut(each.rejection)) continue;
      helped.delete(each);
      each.skipsBackoff = false;
      each.isStale = true;
    }
    return helped;
  }

  /** The hints of the gang policy read the gang of a rejected pod, which must be one that still waits for the same. */
  #replaceRejected(of: EquivalenceClass): void {
    const next = of.entities().next().value;
    if (next?.schedulingEntity.kind !== 'gang') return;
    this.#index.remove(of);
    of.rejected = next;
    of.rejection = { ...of.rejection, rejectedPods: oneOfEachClass(next.schedulingEntity.gang.pending.values()) };
    if (of.isIdle) this.#index.add(of);
  }

  #classFor(entity: QueuedEntity, key: string | undefined, hints: EventHints): EquivalenceClass {
    const known = key === undefined ? undefined : this.#shared.get(key);
    if (known !== undefined) return known;
    const created = new EquivalenceClass(entity, key, hints, this.#options.compare);
    this.#classes.add(created);
    if (key !== undefined) this.#shared.set(key, created);
    return created;
  }

  #dropIfEmpty(dropped: EquivalenceClass): void {
    if (dropped.size > 0 || dropped.representative !== undefined) return;
    this.#index.remove(dropped);
    this.#classes.delete(dropped);
    if (dropped.key !== undefined && this.#shared.get(dropped.key) === dropped) this.#shared.delete(dropped.key);
  }
}
