import type { Basis, PartError, Subject } from './basis.ts';
import type { explainApiVersion } from './basis.ts';
import type { NotComparable } from './snapshot.ts';

/** A field that a new plan or attempt gives another value than the snapshot has. */
export interface ReplayDifference {
  /** `plan.assignments` has one line per member. */
  readonly field: 'plan.fits' | 'plan.assignments' | 'plan.message' | 'gate' | 'reason' | 'message' | 'waitsFor';
  readonly recorded: string;
  readonly replayed: string;
}

/** An entity of the queue in a snapshot, planned and attempted again. */
export interface ReplayItem {
  readonly subject: Subject;
  /** `none`: the snapshot has no plan of it. */
  readonly plan: 'same' | 'differs' | 'none';
  /** `none`: the snapshot has no verdict of it. `workLimit`: the scheduler skipped a check that costs too much just then. */
  readonly verdict: 'same' | 'differs' | 'none' | 'workLimit' | NotComparable;
  readonly differences: readonly ReplayDifference[];
}

/** What `tutti explain` prints. */
export interface SnapshotReplay {
  readonly apiVersion: typeof explainApiVersion;
  readonly kind: 'SnapshotReplay';
  readonly basis: Basis;
  /** Version of Tutti that took the snapshot. */
  readonly takenBy: string;
  readonly items: readonly ReplayItem[];
  readonly errors: readonly PartError[];
}
