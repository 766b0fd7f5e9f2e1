import type { TimelineEntity } from './timeline-entity.ts';
import type { TimelineState } from './timeline-state.ts';
import type { Transition } from './transition.ts';

/** A time in one state. */
export interface Segment {
  readonly start: number;
  readonly end: number;
  readonly state: TimelineState;
}

/**
 * Returns the times of an entity in each state until `now`, neighbors of the same state as one. An entity without transitions has been in its state
 * since `heldSince`: any change would be recorded. Nothing is known of the time before the first transition, and `Gone` is no time.
 */
export function segmentsOf(
  { entity, transitions }: { readonly entity: TimelineEntity; readonly transitions: readonly Transition[] },
  heldSince: number,
  now: number,
): readonly Segment[] {
  const [first] = transitions;
  if (first === undefined) {
    const start = Math.max(heldSince, entity.createdAt);
    return entity.state === 'Gone' ? [] : [{ start, end: Math.max(start, now), state: entity.state }];
  }
  const segments: Segment[] = [];
  let { time: start, state } = first;
  const close = (end: number): void => {
    if (state !== 'Gone' && end > start) segments.push({ start, end, state });
  };
  for (const transition of transitions) {
    if (transition.state === state) continue;
    close(transition.time);
    ({ time: start, state } = transition);
  }
  close(Math.max(now, start));
  return segments;
}
