import type { WaitsFor } from '../verdict.ts';
import type { TimelineState } from './timeline-state.ts';
import type { TransitionKind } from './transition-kind.ts';

/** Members of a group by state. */
export interface MemberCounts {
  /** All that exist. */
  readonly members: number;
  /** They have a node, and the API does not show them bound yet. */
  readonly planned: number;
  /** On a node, as the API shows it, and neither ended nor terminating. */
  readonly bound: number;
  /** Absent: the PodGroup does not exist. */
  readonly minMember?: number;
  /** The quorum has been bound since the group last had none bound. */
  readonly started: boolean;
}

/**
 * One thing that happened to a pod group or a pod, or a run of equal ones. Its lane is in `state` from `time` until the next transition of the same
 * entity.
 */
export interface Transition {
  /**
   * Identifies the transition within an epoch. Later transitions have greater numbers. The number of a run that grows stays the same.
   */
  readonly sequence: number;
  /** When it happened, in milliseconds since the epoch, on the scheduler's clock. Of a run: the first time. */
  readonly time: number;
  readonly kind: TransitionKind;
  /** Key of the entity, see TimelineEntity. */
  readonly entity: string;
  /** After the transition. */
  readonly state: TimelineState;
  /** After the transition; of a run, after the last. Absent: the entity is a pod without a group. */
  readonly counts?: MemberCounts;
  /** Of a run, if all have the same. */
  readonly node?: string;
  /** Of `Rejected`. */
  readonly waitsFor?: WaitsFor;
  /** A short text: of `Rejected` and `BindingFailed`, the cause without its counts; of a reservation, its kind; of `Lost`, how. */
  readonly reason?: string;
  /** Key of the entity that benefits: of `Preempted`. */
  readonly by?: string;
  /** Of a run: how many equal ones followed each other, at least 2. */
  readonly count?: number;
  /** Of a run: the time of the last. */
  readonly until?: number;
}
