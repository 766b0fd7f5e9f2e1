import { Heap } from '../base/heap.ts';
import type { QueueKey } from '../framework/scheduling-entity.ts';
import type { EntityKey, QueuedEntity } from './queued-entity.ts';

export interface CapacityLinesOptions {
  /** Returns the entity if it is in the queue. */
  readonly get: (key: EntityKey) => QueuedEntity | undefined;
  /** QueueSort. */
  readonly compare: (a: QueueKey, b: QueueKey) => number;
}

/** An entity in a line. A later rejection of the entity replaces it. */
interface Place {
  readonly entity: QueuedEntity;
  /** The entity's sort key at the rejection. Its own may change while this is in the heap. */
  readonly rank: QueueKey;
}

/** Number of places, those of entities that have left included, below which no line is swept. */
const fewPlaces = 1_024;

/**
 * The entities that wait until other pods leave capacity, in one line per resource of which they were short at their latest rejection. Says only
 * who is first: any other position would change for all that wait whenever an entity starts. One that has left the queue, or is gated, loses
 * its place by the time its place would matter. A rejection costs O(log n).
 */
export class CapacityLines {
  readonly #options: CapacityLinesOptions;
  /** resource -> the entities that are short of it, and some that no longer are */
  readonly #lines = new Map<string, Heap<Place>>();
  /** entity -> its place */
  readonly #places = new WeakMap<QueuedEntity, Place>();
  #count = 0;
  #sweepAt = fewPlaces;

  constructor(options: CapacityLinesOptions) {
    this.#options = options;
  }

  /** The entity was rejected. `resource`: the one that it is short of; undefined: it is in no line. */
  rejected(entity: QueuedEntity, resource: string | undefined): void {
    if (resource === undefined) {
      this.#places.delete(entity);
      return;
    }
    const place = { entity, rank: entity.sortKey };
    this.#places.set(entity, place);
    this.#line(resource).push(place);
    if (++this.#count >= this.#sweepAt) this.#sweep();
  }

  /** Returns whether no other entity that is short of the resource goes before this one. */
  isFirst(entity: QueuedEntity, resource: string): boolean {
    const line = this.#lines.get(resource);
    for (let first = line?.peek(); first !== undefined; first = line!.peek()) {
      if (first.entity !== entity && this.#waits(first)) return this.#options.compare(entity.sortKey, first.rank) < 0;
      // Its next rejection gives it a new place.
      line!.pop();
      this.#count--;
    }
    return true;
  }

  #line(resource: string): Heap<Place> {
    const known = this.#lines.get(resource);
    if (known !== undefined) return known;
    const line = new Heap<Place>((a, b) => this.#options.compare(a.rank, b.rank));
    this.#lines.set(resource, line);
    return line;
  }

  #waits(place: Place): boolean {
    const { entity } = place;
    if (this.#places.get(entity) !== place || entity.state.kind === 'gated') return false;
    return this.#options.get(entity.key) === entity;
  }

  #sweep(): void {
    this.#count = 0;
    for (const [resource, line] of this.#lines) {
      line.retain((place) => this.#waits(place));
      if (line.size === 0) this.#lines.delete(resource);
      this.#count += line.size;
    }
    this.#sweepAt = Math.max(fewPlaces, 2 * this.#count);
  }
}
