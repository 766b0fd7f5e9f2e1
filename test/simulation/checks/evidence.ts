import type { Call } from '../world/call.ts';
import type { Committed, StoreRecord } from '../world/record.ts';
import type { PlainGroup } from './plain-objects.ts';

export type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'I9' | 'I10' | 'status';

export interface Violation {
  /** `test`: a test failed. */
  readonly invariant: Invariant | 'test';
  /** Virtual milliseconds. */
  readonly at: number;
  readonly what: string;
}

/** What checkers get: the committed history and the calls as sent and carried out, but no internal state of the product. */
export interface Evidence {
  readonly record: StoreRecord;
  readonly now: () => number;
  /** Latest time at which all processes had received every event from before the last fault. */
  readonly seenBy: () => number;
  /** Time from which on the scheduler receives every change as soon as usual, although steps may still follow. */
  readonly promptFrom: () => number;
  /** Longest time from a commit until the scheduler has received it, given the faults so far. */
  readonly lagMs: () => number;
  /** Start of the scheduler process that has run longest of those that run now. */
  readonly knownFrom: () => number;
  /** uids of the group objects whose quorum was bound in their present life, which ends once no member is bound or has succeeded. */
  readonly started: ReadonlySet<string>;
  /** Whether a scheduler that runs takes the group, which has started, for one that never did: nothing that it received shows the quorum. */
  readonly isStartMissed: (group: PlainGroup) => boolean;
  violated(invariant: Invariant, what: string): void;
  /** Records something that looks like a violation but is not, with the reason. The run counts these reasons so that overuse is visible. */
  excused(reason: string): void;
}

/** Checks a run while it happens and when it is over. */
export interface Checker {
  /** A call is sent. */
  sent?(call: Call): void;
  /** A call has been carried out; the record holds the result. */
  done?(call: Call): void;
  committed?(committed: Committed): void;
  /**
   * Called once everything must have settled after the last fault or change. Returns when to check again if a temporary state is still
   * pending; all checkers then check again.
   */
  settled?(): number | undefined;
  /** All final messages have been written: from now on nothing may happen. */
  quiet?(): void;
  /** End of the quiet period, with the number of attempts made in it. There should be none. */
  ended?(attempts: number): void;
}
