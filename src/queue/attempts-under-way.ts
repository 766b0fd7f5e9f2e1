import type { ClusterEvent } from '../framework/cluster-event.ts';
import { EventLog } from './event-log.ts';
import type { QueuedEntity } from './queued-entity.ts';

/**
 * The entity in flight, those whose attempts wait for somebody outside, and what has happened since each was taken: it is replayed
 * for those that fail.
 */
export class AttemptsUnderWay {
  #inFlight: { readonly entity: QueuedEntity; readonly events: ClusterEvent[] } | undefined;
  /** entity whose attempt waits for somebody outside -> what to tell when it leaves */
  readonly #setAside = new Map<QueuedEntity, () => void>();
  /** What happened while they wait. */
  readonly #meanwhile = new EventLog<QueuedEntity>();

  /** Throws when one is in flight: its cycle must have ended before another begins. */
  mustBeFree(): void {
    if (this.#inFlight !== undefined) throw new Error(`${this.#inFlight.entity.key} is still in flight`);
  }

  /** The entity is in flight. */
  begin(entity: QueuedEntity): void {
    this.#inFlight = { entity, events: [] };
  }

  /** Nobody is in flight any more. Answers what has happened since the entity was taken; nothing when that was another. */
  end(entity: QueuedEntity): readonly ClusterEvent[] {
    const events = this.#inFlight?.entity === entity ? this.#inFlight.events : [];
    this.#inFlight = undefined;
    return events;
  }

  isInFlight(entity: QueuedEntity): boolean {
    return this.#inFlight?.entity === entity;
  }

  /** The attempt waits for somebody outside; `events` have happened since it began. */
  setAside(entity: QueuedEntity, events: readonly ClusterEvent[], left: () => void): void {
    this.#setAside.set(entity, left);
    this.#meanwhile.open(entity, events);
  }

  /** In flight again, with all that happened meanwhile. False, and nothing done, when it has left. */
  resume(entity: QueuedEntity): boolean {
    this.mustBeFree();
    if (!this.#setAside.delete(entity)) return false;
    this.#inFlight = { entity, events: this.#meanwhile.close(entity) };
    return true;
  }

  /** One that is set aside will not be resumed. */
  leave(entity: QueuedEntity): void {
    const left = this.#setAside.get(entity);
    this.#setAside.delete(entity);
    this.#meanwhile.close(entity);
    left?.();
  }

  add(event: ClusterEvent): void {
    this.#inFlight?.events.push(event);
    this.#meanwhile.add(event);
  }

  /** event -> how many are kept */
  get counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { resource, action } of [...(this.#inFlight?.events ?? []), ...this.#meanwhile.events]) {
      const label = `${resource}${action}`;
      counts.set(label, (counts.get(label) ?? 0) + 1);
    }
    return counts;
  }
}
