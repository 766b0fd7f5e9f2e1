import type { Subject } from '../explain/basis.ts';
import type { WaitsFor } from '../verdict.ts';
import type { TimelineState } from './timeline-state.ts';
import type { MemberCounts } from './transition.ts';

/** A pod group, or a pod without a group: one lane of the timeline, as it is now. */
export interface TimelineEntity {
  /** `gang/<group key>` or `pod/<uid>`. A new group with the name of an earlier one has the same key. */
  readonly key: string;
  readonly subject: Subject;
  readonly state: TimelineState;
  /** Absent: the entity is a pod without a group. */
  readonly counts?: MemberCounts;
  /** When it was created, in milliseconds since the epoch, as its objects show it. 0: unknown. */
  readonly createdAt: number;
  /** Why it is not bound, from the latest verdict. */
  readonly waitsFor?: WaitsFor;
  readonly reason?: string;
}
