import { jitteredBackoff } from '../base/backoff.ts';
import type { BackoffPolicy } from '../base/backoff.ts';
import type { Random } from '../base/random.ts';
import { ApiError, GoneError, TooManyRequestsError } from '../client/api-errors.ts';
import { AnswerTooLongError } from '../client/transport.ts';
import { WatchLostError, WatchMalformedError } from './watch-stream.ts';

export interface ListPolicyOptions {
  readonly random: Random;
  /** Objects per page of a paged list. */
  readonly pageSize: number;
}

/** The end of one round of (list and) watch. */
export interface RoundEnd {
  readonly step: 'list' | 'watch';
  /** Absent if the server ended the watch normally. */
  readonly error?: Error;
  /** How long the watch lasted, in milliseconds; 0 for a list. */
  readonly lastedMs: number;
}

const backoff: BackoffPolicy = { initialMs: 1_000, maxMs: 30_000 };
/** A watch that lasted this long worked, even without events. */
const healthyMs = 10_000;
/** Number of consecutive rejected or malformed watches after which the resourceVersion is discarded. */
const doubtAfter = 3;
/** Minimum page size: this many objects of the maximum size fit into a response of the maximum size. */
const minPageSize = 25;
/** Number of consecutive attempts without a response that count as an outage. */
const outageAfter = 3;

/**
 * Decides from which resourceVersion and after which delay a collection is watched or listed again, based on the ends of earlier
 * rounds. It uses no network and no clock.
 *
 * A watch resumes where the last one ended. The collection is listed again in three cases: the server no longer knows that
 * resourceVersion, the server rejected it so often that it is in doubt, or the watch cannot continue from it. Pages that are too
 * long to read are made shorter permanently. Delays are a jittered backoff of 1 s to 30 s, or the server's Retry-After if longer.
 * The backoff resets after progress and with the first response after an outage.
 */
export class ListPolicy {
  readonly #random: Random;
  #pageSize: number;
  #resourceVersion: string | undefined;
  /** The resourceVersion at which the watch of this round started. */
  #watchedFrom: string | undefined;
  #isPaged = true;
  #failures = 0;
  #rejections = 0;
  /** Number of consecutive failures without a response. */
  #missingResponses = 0;

  constructor(options: ListPolicyOptions) {
    this.#random = options.random;
    this.#pageSize = options.pageSize;
  }

  /** The start of the next watch; undefined: list first. */
  get resourceVersion(): string | undefined {
    return this.#resourceVersion;
  }

  /** Page size of the next list; undefined: a single page. */
  get pageSize(): number | undefined {
    return this.#isPaged ? this.#pageSize : undefined;
  }

  /** Number of consecutive failed rounds that count for the backoff. */
  get failures(): number {
    return this.#failures;
  }

  /** Reports a complete list at this resourceVersion. */
  listed(resourceVersion: string): void {
    this.#isPaged = true;
    this.#resourceVersion = this.#watchedFrom = resourceVersion;
  }

  /** Reports that the watch has reached this resourceVersion. */
  reached(resourceVersion: string): void {
    this.#resourceVersion = resourceVersion;
  }

  /** Makes the next round list again. */
  listAgain(): void {
    this.#continueFrom(undefined);
  }

  /** Reports the end of a round. Returns the delay before the next one, in milliseconds. */
  delayAfter({ step, error, lastedMs }: RoundEnd): number {
    const hasProgressed = this.#resourceVersion !== this.#watchedFrom;
    if (lastedMs >= healthyMs) this.#failures = this.#rejections = 0;
    // The server is back, however long it was away. Its error now comes from its start, not from our request.
    if (error instanceof ApiError && this.#missingResponses >= outageAfter) this.#failures = 0;
    this.#missingResponses = error === undefined || error instanceof ApiError ? 0 : this.#missingResponses + 1;
    if (error instanceof GoneError) {
      // The continue token is too old: a list this long must come in one piece.
      if (step === 'list') this.#isPaged = false;
      this.#continueFrom(undefined);
      this.#failures++;
      return this.#failures === 1 ? 0 : jitteredBackoff(backoff, this.#failures, this.#random);
    }
    if (hasProgressed) this.#failures = this.#rejections = 0;
    this.#continueFrom(this.#resourceVersion);
    if (error === undefined && lastedMs >= healthyMs) return 0;
    this.#failures++;
    if (step === 'list' && error?.cause instanceof AnswerTooLongError) {
      this.#isPaged = true;
      this.#pageSize = Math.max(Math.min(minPageSize, this.#pageSize), Math.floor(this.#pageSize / 4));
    }
    const isInDoubt = step === 'watch' && isRejection(error) && ++this.#rejections >= doubtAfter;
    if (isInDoubt || error instanceof WatchLostError) {
      this.#rejections = 0;
      this.#continueFrom(undefined);
    }
    const retryAfterMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
    return Math.max(jitteredBackoff(backoff, this.#failures, this.#random), retryAfterMs);
  }

  #continueFrom(resourceVersion: string | undefined): void {
    this.#resourceVersion = this.#watchedFrom = resourceVersion;
  }
}

/** Returns whether the server responded without a usable watch: it may not know the requested resourceVersion. */
function isRejection(error: Error | undefined): boolean {
  if (error instanceof TooManyRequestsError) return false;
  return error instanceof ApiError || error instanceof WatchMalformedError;
}
