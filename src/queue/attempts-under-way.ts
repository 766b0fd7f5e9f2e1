import type { ClusterEvent } from '../framework/cluster-event.ts';
import { EventLog } from './event-log.ts';
import type { QueuedEntity } from './queued-entity.ts';

/**
 * The entity in flight, the entities whose attempts wait for an external response, and the events since each was popped. The queue replays
 * these events when an attempt fails.
 */
export class AttemptsUnderWay {
  #inFlight: { readonly entity: QueuedEntity; readonly events: ClusterEvent[] } | undefined;
  /** entity that is set aside -> callback for when it leaves the queue */
  readonly #setAside = new Map<QueuedEntity, () => void>();
  /** Events while entities are set aside. */
  readonly #eventLog = new EventLog<QueuedEntity>();

  /** Throws if an entity is in flight: its cycle must end before the next one begins. */
  mustBeFree(): void {
    if (this.#inFlight !== undefined) throw new Error(`${this.#inFlight.entity.key} is still in flight`);
  }

  /** Marks the entity as in flight. */
  begin(entity: QueuedEntity): void {
    this.#inFlight = { entity, events: [] };
  }

  /** Marks no entity as in flight. Returns the events since `entity` was popped; none if another entity was in flight. */
  end(entity: QueuedEntity): readonly ClusterEvent[] {
    const events = this.#inFlight?.entity === entity ? this.#inFlight.events : [];
    this.#inFlight = undefined;
    return events;
  }

  /** Returns the entity in flight and those that are set aside. */
  entities(): readonly QueuedEntity[] {
    return [...(this.#inFlight === undefined ? [] : [this.#inFlight.entity]), ...this.#setAside.keys()];
  }

  isInFlight(entity: QueuedEntity): boolean {
    return this.#inFlight?.entity === entity;
  }

  /** Sets the entity aside while its attempt waits for an external response; `events` are those since it was popped. */
  setAside(entity: QueuedEntity, events: readonly ClusterEvent[], onLeave: () => void): void {
    this.#setAside.set(entity, onLeave);
    this.#eventLog.open(entity, events);
  }

  /** Marks the entity as in flight again, with all events since. Returns false, without effect, if it has left the queue. */
  resume(entity: QueuedEntity): boolean {
    this.mustBeFree();
    if (!this.#setAside.delete(entity)) return false;
    this.#inFlight = { entity, events: this.#eventLog.close(entity) };
    return true;
  }

  /** Removes an entity that is set aside; it will not be resumed. */
  leave(entity: QueuedEntity): void {
    const onLeave = this.#setAside.get(entity);
    this.#setAside.delete(entity);
    this.#eventLog.close(entity);
    onLeave?.();
  }

  add(event: ClusterEvent): void {
    this.#inFlight?.events.push(event);
    this.#eventLog.add(event);
  }

  /** event -> number of stored events */
  get counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { resource, action } of [...(this.#inFlight?.events ?? []), ...this.#eventLog.events]) {
      const label = `${resource}${action}`;
      counts.set(label, (counts.get(label) ?? 0) + 1);
    }
    return counts;
  }
}
