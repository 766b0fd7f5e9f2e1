import type { Subject } from '../../api/explain/basis.ts';
import type { ClientTimeline } from '../../api/timeline/client-timeline.ts';
import { segmentsOf } from '../../api/timeline/segments.ts';
import type { TimelineEntity } from '../../api/timeline/timeline-entity.ts';
import type { TimelineItem } from '../../api/timeline/timeline-answer.ts';
import type { Trace, TraceInstant, TraceName, TraceSpan } from '../../api/timeline/trace.ts';
import { subjectOfKey } from './subject-of-key.ts';
import { shownSubject } from './timeline-columns.ts';
import { TimelineItems } from './timeline-items.ts';

export interface TraceOptions {
  readonly isWanted: (subject: Subject) => boolean;
  /** In milliseconds since the epoch. The trace leaves out earlier times. */
  readonly from: number;
}

type TraceEvent = Trace['traceEvents'][number];

/** A process and a thread of the trace. */
interface Place {
  readonly pid: number;
  readonly tid: number;
}

/** The lane of the record itself, above the others. */
const recordPlace: Place = { pid: 1, tid: 1 };

/**
 * Returns a trace with a process for each namespace and a thread for each pod group or pod: a span for each time in one state, and an instant for each
 * event. The time of which nothing is recorded has spans of its own.
 */
export function traceOf(timeline: ClientTimeline, { isWanted, from }: TraceOptions): Trace {
  const entities = [...timeline.entities.values()]
    .map((entity) => ({ entity, subject: subjectOfKey(timeline, entity.key) }))
    .filter(({ subject }) => isWanted(subject))
    .sort((a, b) => compare(a.subject.namespace, b.subject.namespace) || compare(a.entity.key, b.entity.key));
  const places = new Places();
  /** key of an entity -> its place */
  const placeOf = new Map(entities.map(({ entity, subject }) => [entity.key, places.of(subject)]));
  const spans = spansOf(
    timeline,
    entities.map(({ entity }) => entity),
    from,
    placeOf,
  );
  return {
    displayTimeUnit: 'ms',
    traceEvents: [
      ...places.names,
      ...recordEvents(timeline, from, spans),
      ...spans,
      ...instantsOf(timeline, from, placeOf),
    ],
  };
}

/** Gives numbers to namespaces and lanes. */
class Places {
  readonly names: TraceName[] = namesOf(recordPlace, 'scheduler', 'record');
  /** namespace -> its number */
  readonly #processes = new Map<string, number>();
  #threads = recordPlace.tid;

  of(subject: Subject): Place {
    const known = this.#processes.get(subject.namespace);
    const pid = known ?? recordPlace.pid + 1 + this.#processes.size;
    const place = { pid, tid: ++this.#threads };
    const [process, ...thread] = namesOf(place, subject.namespace, shownSubject(subject));
    this.names.push(...(known === undefined ? [process!] : []), ...thread);
    this.#processes.set(subject.namespace, pid);
    return place;
  }
}

/** Viewers sort by these numbers, not by names. */
function namesOf({ pid, tid }: Place, process: string, thread: string): TraceName[] {
  return [
    { ph: 'M', name: 'process_name', pid, tid, args: { name: process } },
    { ph: 'M', name: 'process_sort_index', pid, tid, args: { sort_index: pid } },
    { ph: 'M', name: 'thread_name', pid, tid, args: { name: thread } },
    { ph: 'M', name: 'thread_sort_index', pid, tid, args: { sort_index: tid } },
  ];
}

function spansOf(
  timeline: ClientTimeline,
  entities: readonly TimelineEntity[],
  from: number,
  placeOf: ReadonlyMap<string, Place>,
): readonly TraceSpan[] {
  const { heldSince, now } = timeline;
  const transitions = Map.groupBy(timeline.transitions, ({ entity }) => entity);
  return entities.flatMap((entity) => {
    const place = placeOf.get(entity.key)!;
    const segments = segmentsOf({ entity, transitions: transitions.get(entity.key) ?? [] }, heldSince, now);
    const { createdAt } = entity;
    // An entity that was created later has been recorded from its creation on.
    const isOlder = createdAt > 0 && createdAt < heldSince;
    const recordedSince = segments[0]?.start ?? heldSince;
    return [
      ...(isOlder ? spanOf(noRecord, Math.max(createdAt, from), recordedSince, place) : []),
      ...segments.flatMap(({ start, end, state }) => spanOf(state, Math.max(start, from), end, place)),
    ];
  });
}

const noRecord = 'no record';
const recorded = 'recorded';

function instantsOf(
  timeline: ClientTimeline,
  from: number,
  placeOf: ReadonlyMap<string, Place>,
): readonly TraceInstant[] {
  const items = new TimelineItems().take(timeline);
  return items.flatMap((item, index) => {
    const { entity, time, until } = timeline.transitions[index]!;
    const place = placeOf.get(entity);
    if (place === undefined) return [];
    // Of a run, the first and the last are known.
    const times = [time, ...(until === undefined ? [] : [until])].filter((each) => each >= from);
    return times.map((each): TraceInstant => {
      return { ph: 'i', s: 't', name: item.event, cat: 'event', ts: micros(each), ...place, args: argumentsOf(item) };
    });
  });
}

function argumentsOf({
  state,
  counts,
  waitedSeconds,
  node,
  waitsFor,
  reason,
  by,
  count,
}: TimelineItem): TraceSpan['args'] {
  return {
    state,
    ...(counts !== undefined && { bound: counts.bound, members: counts.members }),
    ...(counts?.minMember !== undefined && { minMember: counts.minMember }),
    ...(waitedSeconds !== undefined && { waitedSeconds }),
    ...(node !== undefined && { node }),
    ...(waitsFor !== undefined && { waitsFor }),
    ...(reason !== undefined && { reason }),
    ...(by !== undefined && { by: `${by.namespace} ${shownSubject(by)}` }),
    ...(count !== undefined && { count }),
  };
}

/** Shows what time the record covers, and marks where it begins. */
function recordEvents({ heldSince, now }: ClientTimeline, from: number, spans: readonly TraceSpan[]): TraceEvent[] {
  const earliest = from > 0 ? from : spans.reduce((start, { ts }) => Math.min(start, ts / 1_000), heldSince);
  const args = { reason: 'The scheduler leads since then, or later events have taken the place of earlier ones.' };
  return [
    ...spanOf(noRecord, earliest, heldSince, recordPlace),
    ...spanOf(recorded, Math.max(heldSince, from), now, recordPlace),
    ...(heldSince < from
      ? []
      : [
          {
            ph: 'i',
            s: 'g',
            name: 'record begins',
            cat: 'record',
            ts: micros(heldSince),
            ...recordPlace,
            args,
          } as const,
        ]),
  ];
}

/** Returns no span if it has no duration. */
function spanOf(name: string, start: number, end: number, place: Place): readonly TraceSpan[] {
  if (end <= start) return [];
  const ts = micros(start);
  const cat = name === noRecord || name === recorded ? 'record' : 'state';
  return [{ ph: 'X', name, cat, ts, dur: micros(end) - ts, ...place, args: {} }];
}

function micros(milliseconds: number): number {
  return Math.round(milliseconds * 1_000);
}

/** Without the rules of a language, which are slow for thousands of names. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
