import type { Call } from '../world/call.ts';
import type { Committed, StoreRecord } from '../world/record.ts';

export type Invariant = 'I1' | 'I2' | 'I3' | 'I5' | 'I6' | 'I7' | 'I9' | 'status';

export interface Violation {
  readonly invariant: Invariant;
  /** Virtual milliseconds. */
  readonly at: number;
  readonly what: string;
}

/** What checkers are given: the committed history, the calls as they were sent and carried out, and nothing of what the product thinks. */
export interface Evidence {
  readonly record: StoreRecord;
  readonly now: () => number;
  /** When everybody had been told of all that happened before the last fault, at the latest. */
  readonly toldBy: () => number;
  /** uids of the group objects whose quorum was on nodes once. */
  readonly started: ReadonlySet<string>;
  violated(invariant: Invariant, what: string): void;
  /** What looks like a violation and is none, for the reason given; counted, so that it is seen how often that is said. */
  excused(reason: string): void;
}

/** Looks at a run while it happens and when it is over. */
export interface Checker {
  /** A call goes on the wire. */
  sent?(call: Call): void;
  /** A call has been carried out; the record holds what came of it. */
  done?(call: Call): void;
  committed?(committed: Committed): void;
  /**
   * Faults and changes were over long enough ago for everything to have come to rest. Answers when to look again, where something that ends by
   * itself is under way; all look again then.
   */
  settled?(): number | undefined;
  /** The last words have been written as well: from now on nothing is to happen. */
  quiet?(): void;
  /** Nothing was to happen since; so many attempts were made all the same. */
  ended?(attempts: number): void;
}
