import { knownEntity, knownReason, knownTransition } from './known-values.ts';
import type { TimelineEntity } from './timeline-entity.ts';
import type { GapReason, TimelineDelta, TimelineMessage, TimelineSnapshot } from './timeline-message.ts';
import type { TimelineNode } from './timeline-node.ts';
import type { Transition } from './transition.ts';

/** What a client of the timeline knows. */
export interface ClientTimeline {
  /**
   * - `empty`: nothing was received. `current`: all changes up to `sequence` are here.
   * - `outdated`: changes are missing. A client that has received no gap reconnects with its Last-Event-ID; after a gap, a snapshot follows by itself.
   */
  readonly status: 'empty' | 'current' | 'outdated';
  /** Empty before the first snapshot. With `sequence`, the Last-Event-ID. */
  readonly epoch: string;
  readonly sequence: number;
  readonly isLeading: boolean;
  /** The scheduler's time of the last message, in milliseconds since the epoch. The clock of the client may differ. */
  readonly now: number;
  /** See TimelineSnapshot. */
  readonly heldSince: number;
  readonly capacity: number;
  /** Reason of the last gap. Undefined: there was none. */
  readonly gap: GapReason | undefined;
  /** key -> entity. One that is gone stays for as long as a transition of it does. */
  readonly entities: ReadonlyMap<string, TimelineEntity>;
  /** name -> node */
  readonly nodes: ReadonlyMap<string, TimelineNode>;
  /** In the order of their numbers; at most `capacity`. */
  readonly transitions: readonly Transition[];
}

export const emptyTimeline: ClientTimeline = {
  status: 'empty',
  epoch: '',
  sequence: 0,
  isLeading: false,
  now: 0,
  heldSince: 0,
  capacity: 0,
  gap: undefined,
  entities: new Map(),
  nodes: new Map(),
  transitions: [],
};

/**
 * Returns the client's timeline after a message; it changes neither. A message that was received before changes nothing, and one that does not
 * continue what the client has makes it `outdated`, so that nothing is lost or doubled. Unknown messages, kinds and states of a newer server are
 * tolerated: kinds, states and reasons become `Unknown`.
 */
export function withMessage(timeline: ClientTimeline, message: TimelineMessage): ClientTimeline {
  switch (message.kind) {
    case 'snapshot':
      return withSnapshot(timeline, message);
    case 'delta':
      return withDelta(timeline, message);
    case 'gap':
      return { ...timeline, status: 'outdated', now: message.now, gap: knownReason(message.reason) };
    default:
      return timeline;
  }
}

function withSnapshot(timeline: ClientTimeline, snapshot: TimelineSnapshot): ClientTimeline {
  const { epoch, sequence, after, isLeading, now, heldSince, capacity } = snapshot;
  const resumes = after !== undefined;
  if (resumes && (epoch !== timeline.epoch || after > timeline.sequence)) return { ...timeline, status: 'outdated' };
  if (epoch === timeline.epoch && sequence < timeline.sequence) return timeline;
  const entities = new Map<string, TimelineEntity>();
  if (resumes) for (const [key, entity] of timeline.entities) entities.set(key, { ...entity, state: 'Gone' });
  for (const entity of snapshot.entities) entities.set(entity.key, knownEntity(entity));
  return trimmed({
    ...{ status: 'current', epoch, sequence, isLeading, now, capacity, entities },
    // What a client still holds may be older than what the server does.
    heldSince: resumes ? timeline.heldSince : heldSince,
    gap: resumes ? timeline.gap : gapOf(timeline),
    nodes: new Map(snapshot.nodes.map((node) => [node.name, node])),
    transitions: merged(resumes ? timeline.transitions : [], snapshot.transitions),
  });
}

/** The first snapshot is no gap. A later one without a reason is of another leader. */
function gapOf({ status, gap }: ClientTimeline): GapReason | undefined {
  if (status === 'empty') return undefined;
  return status === 'outdated' ? gap : 'NewLeader';
}

function withDelta(timeline: ClientTimeline, delta: TimelineDelta): ClientTimeline {
  const { epoch, from, sequence, now } = delta;
  if (timeline.status !== 'current') return timeline;
  if (epoch !== timeline.epoch || from > timeline.sequence) return { ...timeline, status: 'outdated' };
  if (sequence < timeline.sequence) return timeline;
  let { entities, nodes } = timeline;
  if (delta.entities.length > 0) {
    const changed = new Map(entities);
    for (const entity of delta.entities) changed.set(entity.key, knownEntity(entity));
    entities = changed;
  }
  if (delta.nodes.length + delta.removedNodes.length > 0) {
    const changed = new Map(nodes);
    for (const node of delta.nodes) changed.set(node.name, node);
    for (const name of delta.removedNodes) changed.delete(name);
    nodes = changed;
  }
  const transitions = merged(timeline.transitions, delta.transitions);
  return trimmed({ ...timeline, sequence, now, entities, nodes, transitions });
}

/** Both lists are in order. A transition of the later one replaces that of the same number. */
function merged(before: readonly Transition[], later: readonly Transition[]): readonly Transition[] {
  if (later.length === 0) return before;
  const first = later[0]!.sequence;
  let start = before.length;
  while (start > 0 && before[start - 1]!.sequence >= first) start--;
  const bySequence = new Map(before.slice(start).map((transition) => [transition.sequence, transition]));
  for (const transition of later) bySequence.set(transition.sequence, knownTransition(transition));
  const tail = [...bySequence.values()].sort((a, b) => a.sequence - b.sequence);
  return [...before.slice(0, start), ...tail];
}

/** Drops the oldest transitions beyond the capacity, and entities that are gone and have none left. */
function trimmed(timeline: ClientTimeline): ClientTimeline {
  const { capacity, transitions, entities } = timeline;
  const surplus = Math.max(0, transitions.length - capacity);
  const kept = surplus === 0 ? transitions : transitions.slice(surplus);
  let remaining = entities;
  if ([...entities.values()].some(({ state }) => state === 'Gone')) {
    const named = new Set(kept.map(({ entity }) => entity));
    remaining = new Map([...entities].filter(([key, { state }]) => state !== 'Gone' || named.has(key)));
  }
  const heldSince = surplus === 0 ? timeline.heldSince : Math.max(timeline.heldSince, kept[0]?.time ?? 0);
  return { ...timeline, heldSince, transitions: kept, entities: remaining };
}
