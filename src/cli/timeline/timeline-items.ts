import type { ClientTimeline } from '../../api/timeline/client-timeline.ts';
import type { TimelineItem } from '../../api/timeline/timeline-answer.ts';
import type { Transition } from '../../api/timeline/transition.ts';
import { WaitingTimes } from '../../api/timeline/waiting-times.ts';
import { cutText, maxMessageLength, maxNameLength } from '../../base/safe-text.ts';
import { subjectOfKey } from './subject-of-key.ts';

/** Makes items of a timeline that goes on. */
export class TimelineItems {
  #waits = new WaitingTimes();
  #epoch = '';
  /** sequence number of a transition that was taken -> how many it stood for */
  #taken: ReadonlyMap<number, number> = new Map();

  /** Returns the items of what has happened since the last call, in order. A run that has grown is an item again. */
  take(timeline: ClientTimeline): readonly TimelineItem[] {
    const { epoch, transitions } = timeline;
    const goesOn = epoch === this.#epoch;
    const taken = goesOn ? this.#taken : new Map<number, number>();
    if (!goesOn) this.#waits = new WaitingTimes();
    this.#epoch = epoch;
    this.#taken = new Map(transitions.map(({ sequence, count = 1 }) => [sequence, count]));
    const changed = transitions.filter(({ sequence, count = 1 }) => taken.get(sequence) !== count);
    return changed.map((transition) => itemOf(transition, this.#waits.add(transition), timeline));
  }
}

function itemOf(transition: Transition, waitsSince: number | undefined, timeline: ClientTimeline): TimelineItem {
  const { sequence, time, kind, entity, state, counts, node, waitsFor, reason, by, count, until } = transition;
  return {
    sequence,
    time: new Date(time).toISOString(),
    subject: subjectOfKey(timeline, entity),
    event: kind,
    state,
    ...(counts !== undefined && { counts }),
    ...(waitsSince !== undefined && { waitedSeconds: Math.max(0, (until ?? time) - waitsSince) / 1_000 }),
    ...(node !== undefined && { node: cutText(node, maxNameLength) }),
    ...(waitsFor !== undefined && { waitsFor }),
    ...(reason !== undefined && { reason: cutText(reason, maxMessageLength) }),
    ...(by !== undefined && { by: subjectOfKey(timeline, by) }),
    ...(count !== undefined && { count }),
    ...(until !== undefined && { until: new Date(until).toISOString() }),
  };
}
