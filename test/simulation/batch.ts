import type { Violation } from './checks/evidence.ts';

/** A range of seeds that one worker runs, and its outcome. */
export interface Batch {
  readonly from: number;
  readonly count: number;
}

export interface FailedSeed {
  readonly seed: number;
  readonly violation: Violation;
}

export interface BatchOutcome {
  readonly runs: number;
  readonly failed: readonly FailedSeed[];
  readonly struck: Readonly<Record<string, number>>;
  readonly excused: Readonly<Record<string, number>>;
  readonly placedBy: Readonly<Record<string, number>>;
  readonly preempted: Readonly<Record<string, number>>;
  readonly reserved: Readonly<Record<string, number>>;
  readonly turns: number;
  /** Virtual time. */
  readonly lastedMs: number;
}

export function addCounts(to: Record<string, number>, from: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(from)) to[name] = (to[name] ?? 0) + count;
}
