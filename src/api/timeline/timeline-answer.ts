import type { Basis, explainApiVersion, Subject } from '../explain/basis.ts';
import type { WaitsFor } from '../verdict.ts';
import type { GapReason } from './timeline-message.ts';
import type { TimelineState } from './timeline-state.ts';
import type { TransitionKind } from './transition-kind.ts';
import type { MemberCounts } from './transition.ts';

/** One row of `tutti timeline`: something that happened to a pod group or a pod, or a run of equal things. */
export interface TimelineItem {
  /** Later ones have greater numbers, as long as the same scheduler leads. */
  readonly sequence: number;
  /** RFC 3339, on the scheduler's clock. Of a run: the first time. */
  readonly time: string;
  readonly subject: Subject;
  /** See TransitionKind. */
  readonly event: TransitionKind;
  /** After the event. */
  readonly state: TimelineState;
  /** After the event. Absent: a pod without a group. */
  readonly counts?: MemberCounts;
  /** How long it had waited for its quorum when this happened; of a run, when the last happened. Absent: it did not wait. */
  readonly waitedSeconds?: number;
  readonly node?: string;
  readonly waitsFor?: WaitsFor;
  readonly reason?: string;
  /** Of `Preempted`: the pod group or pod that benefits. */
  readonly by?: Subject;
  /** Of a run: how many, at least 2. */
  readonly count?: number;
  /** Of a run: the time of the last. RFC 3339. */
  readonly until?: string;
}

export interface TimelineList {
  readonly apiVersion: typeof explainApiVersion;
  readonly kind: 'TimelineList';
  readonly basis: Basis;
  /** RFC 3339: the scheduler holds everything that happened since then. */
  readonly heldSince: string;
  /** The scheduler does not hold all of the time that was asked for: `heldSince` is later. */
  readonly gap: boolean;
  /** The oldest first. */
  readonly items: readonly TimelineItem[];
}

/**
 * What `tutti timeline --follow` prints for each event. `Transition`: it has happened, or a run has grown; a run keeps its sequence number. `Gap`:
 * what happened before the next one may be missing, and sequence numbers may begin again.
 */
export type TimelineChange =
  | {
      readonly apiVersion: typeof explainApiVersion;
      readonly kind: 'TimelineChange';
      readonly type: 'Transition';
      readonly item: TimelineItem;
    }
  | {
      readonly apiVersion: typeof explainApiVersion;
      readonly kind: 'TimelineChange';
      readonly type: 'Gap';
      readonly reason: GapReason;
    };
