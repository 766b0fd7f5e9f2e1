import type { TimelineEntity } from './timeline-entity.ts';
import type { TimelineNode } from './timeline-node.ts';
import type { Transition } from './transition.ts';

/**
 * Why what a client has no longer continues into what follows. A snapshot follows at once.
 * - `NewLeader`: another process leads now, or the scheduler has restarted: it has no transitions of the time before.
 * - `SlowClient`: more waited for the client than the server keeps for one.
 * - `TooOld`: the client was away for so long that transitions of that time are no longer held.
 */
export type GapReason = 'NewLeader' | 'SlowClient' | 'TooOld' | 'Unknown';

interface FromServer {
  /** Identifies the time in which one process leads. Sequence numbers of different epochs have nothing to do with each other. */
  readonly epoch: string;
  /** The scheduler's time, in milliseconds since the epoch. All times in messages are of the same clock. */
  readonly now: number;
}

/** All that the server has. Replaces all entities and nodes of the client. */
export interface TimelineSnapshot extends FromServer {
  readonly kind: 'snapshot';
  /** False: the process does not lead. It follows the cluster, but decides and records nothing. */
  readonly isLeading: boolean;
  /** It includes all changes up to this number. */
  readonly sequence: number;
  /**
   * Set if the client resumes: `transitions` are only those that came or grew after this number, and the client keeps the others. Absent: the
   * transitions replace all of the client, too.
   */
  readonly after?: number;
  /** Time since which all transitions are held, in milliseconds since the epoch. Earlier ones were not recorded, or made room for later ones. */
  readonly heldSince: number;
  /** How many transitions the server holds at most. A client need not hold more. */
  readonly capacity: number;
  readonly entities: readonly TimelineEntity[];
  readonly nodes: readonly TimelineNode[];
  /** In the order of their numbers. */
  readonly transitions: readonly Transition[];
}

/** What has changed since the message before. */
export interface TimelineDelta extends FromServer {
  readonly kind: 'delta';
  /** The sequence number of the message before. */
  readonly from: number;
  readonly sequence: number;
  /** Entities that have new transitions, as they are now, with the state `Gone` if they no longer exist. */
  readonly entities: readonly TimelineEntity[];
  /** Nodes that have changed, as they are now. */
  readonly nodes: readonly TimelineNode[];
  /** Names of nodes that no longer exist. */
  readonly removedNodes: readonly string[];
  /** New ones, and runs that have grown, in the order of their numbers. */
  readonly transitions: readonly Transition[];
}

/** What the client has does not continue. It may show it as it was until the snapshot, which follows at once. */
export interface TimelineGap extends FromServer {
  readonly kind: 'gap';
  readonly reason: GapReason;
}

/** A message of /debug/events. Its kind is the type of the server-sent event. */
export type TimelineMessage = TimelineSnapshot | TimelineDelta | TimelineGap;
