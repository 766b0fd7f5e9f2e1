import { backoffDelay } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { DueTimes } from '../../base/due-times.ts';

/**
 * The end of a write:
 * - `done`: nothing is left to write, or the watch will show the pod's change.
 * - `again`: the watch has shown a change of the pod in the meantime.
 * - `failed`: the verdict is still to be written, and no change of the pod is expected that would cause it.
 */
export type WriteEnd = 'done' | 'again' | 'failed';

export interface VerdictWritesOptions {
  readonly clock: Clock;
  /**
   * Writes the verdict that the pod should carry now; undefined if there is nothing to write. Resolves with a function that handles the
   * response, called at once. A rejection counts as failed.
   */
  readonly write: (uid: string) => Promise<() => WriteEnd> | undefined;
  /** Returns whether the pod's write goes before those of other pods: users and the group's status read this pod. */
  readonly goesFirst: (uid: string) => boolean;
  /** A write was rejected. `isFirst`: no other pod waits for a retry. */
  readonly onError: (uid: string, error: unknown, isFirst: boolean) => void;
}

interface WriteLane {
  /** uids that wait for a write, in the order of their arrival */
  readonly ready: Set<string>;
  inFlight: number;
}

/**
 * Maximum number of writes in flight per lane. The others wait here and not for their turn at the client, because a write carries the
 * verdict of the moment in which it starts.
 */
const maxInFlight = 32;
const retryPolicy = { initialMs: 1_000, maxMs: 60_000 };
/** Number of retries in one round: enough to find out whether writes succeed, and few if they don't. */
const roundSize = 20;
/** Key of the next round among the due times. No uid is empty. */
const nextRound = '';

/**
 * When the verdicts of pods are written: first members before others, a limited number at a time, each pod once however often its verdict
 * changes while it waits.
 *
 * Retries failed writes in small rounds, until they succeed or are obsolete. If a whole round fails, the next one waits longer. If a write
 * succeeds, the next round follows at once.
 */
export class VerdictWrites {
  readonly #options: VerdictWritesOptions;
  readonly #first: WriteLane = { ready: new Set(), inFlight: 0 };
  readonly #others: WriteLane = { ready: new Set(), inFlight: 0 };
  /** uids of pods with a write in flight */
  readonly #writing = new Set<string>();
  /** uids of pods whose write failed, in the order of their retries */
  readonly #failed = new Set<string>();
  /** uids of the current round whose retry has not ended */
  readonly #round = new Set<string>();
  #hasRoundSucceeded = false;
  /** Number of consecutive failed rounds. */
  #failedRounds = 0;
  readonly #due: DueTimes<string>;
  #isStopped = false;

  constructor(options: VerdictWritesOptions) {
    this.#options = options;
    this.#due = new DueTimes(options.clock, (key) => {
      if (key === nextRound) this.#beginRound();
      else this.add(key);
    });
  }

  /** The pod's verdict is to be written as soon as possible. Does nothing while its write is in flight: its end decides whether to repeat it. */
  add(uid: string): void {
    if (this.#isStopped || this.#writing.has(uid)) return;
    this.#failed.delete(uid);
    if (this.#options.goesFirst(uid)) {
      this.#others.ready.delete(uid);
      this.#first.ready.add(uid);
    } else if (!this.#first.ready.has(uid)) {
      this.#others.ready.add(uid);
    }
    this.#start();
  }

  /** The pod's verdict is to be written at this time, as Clock.monotonic(). */
  addAt(uid: string, at: number): void {
    if (!this.#isStopped) this.#due.set(uid, at, undefined);
  }

  /** The pod needs no verdict anymore. */
  delete(uid: string): void {
    this.#first.ready.delete(uid);
    this.#others.ready.delete(uid);
    this.#failed.delete(uid);
    this.#due.delete(uid);
    if (!this.#writing.has(uid)) this.#endRetry(uid, true);
  }

  stop(): void {
    this.#isStopped = true;
    this.#due.stop();
    for (const uids of [this.#first.ready, this.#others.ready, this.#failed, this.#round]) uids.clear();
  }

  #start(): void {
    for (const lane of [this.#first, this.#others]) {
      for (const uid of lane.ready) {
        if (lane.inFlight >= maxInFlight) break;
        lane.ready.delete(uid);
        this.#begin(uid, lane);
      }
    }
  }

  #begin(uid: string, lane: WriteLane): void {
    const response = this.#options.write(uid);
    if (response === undefined) {
      this.#endRetry(uid, true);
      return;
    }
    lane.inFlight++;
    this.#writing.add(uid);
    response.then(
      (handle) => this.#ended(uid, lane, handle),
      (error: unknown) => {
        if (!this.#isStopped) this.#options.onError(uid, error, this.#failed.size === 0);
        this.#ended(uid, lane, () => 'failed');
      },
    );
  }

  #ended(uid: string, lane: WriteLane, handle: () => WriteEnd): void {
    lane.inFlight--;
    this.#writing.delete(uid);
    if (this.#isStopped) return;
    const end = handle();
    if (end === 'failed') this.#failed.add(uid);
    this.#endRetry(uid, end !== 'failed');
    this.#planRound();
    if (end === 'again') this.add(uid);
    else this.#start();
  }

  #planRound(): void {
    if (this.#failed.size === 0 || this.#round.size > 0 || this.#due.has(nextRound)) return;
    const { clock } = this.#options;
    this.#due.set(nextRound, clock.monotonic() + backoffDelay(retryPolicy, this.#failedRounds + 1), undefined);
  }

  /** Begins rounds until a write is in flight or none has failed: the verdicts of a whole round may be obsolete. */
  #beginRound(): void {
    do {
      this.#hasRoundSucceeded = false;
      // While it holds this key, the round does not end.
      this.#round.add(nextRound);
      for (const uid of this.#failed) {
        if (this.#round.size > roundSize) break;
        this.#round.add(uid);
      }
      for (const uid of [...this.#round].slice(1)) this.add(uid);
      this.#round.delete(nextRound);
      if (this.#round.size === 0) this.#failedRounds = 0;
    } while (this.#round.size === 0 && this.#failed.size > 0);
  }

  /** If the pod's write was a retry, it has ended, and with the last one the round. */
  #endRetry(uid: string, hasSucceeded: boolean): void {
    if (!this.#round.delete(uid)) return;
    this.#hasRoundSucceeded ||= hasSucceeded;
    if (this.#round.size > 0) return;
    this.#failedRounds = this.#hasRoundSucceeded ? 0 : this.#failedRounds + 1;
    if (this.#hasRoundSucceeded && this.#failed.size > 0) this.#beginRound();
  }
}
