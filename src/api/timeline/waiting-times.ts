import type { TimelineState } from './timeline-state.ts';
import type { Transition } from './transition.ts';

/** In these states, an entity waits for its quorum to be bound. */
const waiting: ReadonlySet<TimelineState> = new Set(['NotReady', 'Waiting', 'Starting', 'Partial']);

/** Since when entities wait for their quorum, as their transitions show it. */
export class WaitingTimes {
  /** key of an entity that waits -> since when, in milliseconds since the epoch */
  readonly #since = new Map<string, number>();

  /** Takes the next transition. Returns since when its entity had waited when it happened; undefined: it did not wait. */
  add({ entity, state, time }: Pick<Transition, 'entity' | 'state' | 'time'>): number | undefined {
    const before = this.#since.get(entity);
    if (!waiting.has(state)) this.#since.delete(entity);
    else if (before === undefined) this.#since.set(entity, time);
    return before ?? this.#since.get(entity);
  }

  /** Returns since when the entity waits; undefined: it does not, or has no transition. */
  since(entity: string): number | undefined {
    return this.#since.get(entity);
  }
}
