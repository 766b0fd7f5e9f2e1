import { jitteredBackoff } from '../base/backoff.ts';
import type { BackoffPolicy } from '../base/backoff.ts';
import type { Random } from '../base/random.ts';
import { ApiError, GoneError, TooManyRequestsError } from '../client/api-errors.ts';
import { AnswerTooLongError } from '../client/transport.ts';
import { WatchLostError, WatchMalformedError } from './watch-stream.ts';

export interface ListPolicyOptions {
  readonly random: Random;
  /** Objects a page, where lists are made in pages. */
  readonly pageSize: number;
}

/** How one round of (list and) watch ended. */
export interface RoundEnd {
  readonly step: 'list' | 'watch';
  /** Absent when the server ended the watch in good order. */
  readonly error?: Error;
  /** How long the watch lasted, in milliseconds; 0 for a list. */
  readonly lastedMs: number;
}

const backoff: BackoffPolicy = { initialMs: 1_000, maxMs: 30_000 };
/** A watch that lasted so long worked, even if nothing happened on it. */
const healthyMs = 10_000;
/** Watches rejected or garbled in a row after which the resourceVersion itself is doubted. */
const doubtAfter = 3;
/** As many of the largest objects that there can be fit into what is read of a page. */
const leastPageSize = 25;
/** Attempts without an answer in a row that make an outage, not bad luck. */
const outageAfter = 3;

/**
 * From where, and after how long, a collection is watched or listed again, judged by how earlier rounds ended. Knows no
 * network and no clock.
 *
 * A watch goes on where the last one ended. The collection is listed again when the server has forgotten that place, or has
 * rejected it so often that the place itself is in doubt, or when a watch cannot go on from it. Pages that are too long to be read are made
 * shorter for good. Delays are a jittered back-off of 1 s to 30 s, or the server's
 * Retry-After where that is longer; only progress resets it, and the first answer after an outage.
 */
export class ListPolicy {
  readonly #random: Random;
  #pageSize: number;
  #resourceVersion: string | undefined;
  /** The resourceVersion at which the present round's watch began. */
  #watchedFrom: string | undefined;
  #isPaged = true;
  #failures = 0;
  #rejections = 0;
  /** Failures in a row in which no server said anything. */
  #unanswered = 0;

  constructor(options: ListPolicyOptions) {
    this.#random = options.random;
    this.#pageSize = options.pageSize;
  }

  /** Where the next watch begins; undefined: list first. */
  get resourceVersion(): string | undefined {
    return this.#resourceVersion;
  }

  /** Objects a page of the next list; undefined: all in one piece. */
  get pageSize(): number | undefined {
    return this.#isPaged ? this.#pageSize : undefined;
  }

  /** Rounds that failed in a row, as far as they count for the back-off. */
  get failures(): number {
    return this.#failures;
  }

  /** The collection has been listed whole, as it was at this resourceVersion. */
  listed(resourceVersion: string): void {
    this.#isPaged = true;
    this.#resourceVersion = this.#watchedFrom = resourceVersion;
  }

  /** The watch has come so far. */
  reached(resourceVersion: string): void {
    this.#resourceVersion = resourceVersion;
  }

  /** The next round lists anew, wherever the watch has come. */
  listAgain(): void {
    this.#goOnFrom(undefined);
  }

  /** The round has ended. Answers the milliseconds to wait before the next one. */
  delayAfter({ step, error, lastedMs }: RoundEnd): number {
    const hasProgressed = this.#resourceVersion !== this.#watchedFrom;
    if (lastedMs >= healthyMs) this.#failures = this.#rejections = 0;
    // However long it was away: it is back, and what it says now has to do with its start, not with us.
    if (error instanceof ApiError && this.#unanswered >= outageAfter) this.#failures = 0;
    this.#unanswered = error === undefined || error instanceof ApiError ? 0 : this.#unanswered + 1;
    if (error instanceof GoneError) {
      // A continue token that is too old: lists this long must come in one piece.
      if (step === 'list') this.#isPaged = false;
      this.#goOnFrom(undefined);
      this.#failures++;
      return this.#failures === 1 ? 0 : jitteredBackoff(backoff, this.#failures, this.#random);
    }
    if (hasProgressed) this.#failures = this.#rejections = 0;
    this.#goOnFrom(this.#resourceVersion);
    if (error === undefined && lastedMs >= healthyMs) return 0;
    this.#failures++;
    if (step === 'list' && error?.cause instanceof AnswerTooLongError) {
      this.#isPaged = true;
      this.#pageSize = Math.max(Math.min(leastPageSize, this.#pageSize), Math.floor(this.#pageSize / 4));
    }
    const isInDoubt = step === 'watch' && isRejection(error) && ++this.#rejections >= doubtAfter;
    if (isInDoubt || error instanceof WatchLostError) {
      this.#rejections = 0;
      this.#goOnFrom(undefined);
    }
    const retryAfterMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
    return Math.max(jitteredBackoff(backoff, this.#failures, this.#random), retryAfterMs);
  }

  #goOnFrom(resourceVersion: string | undefined): void {
    this.#resourceVersion = this.#watchedFrom = resourceVersion;
  }
}

/** Whether the server answered, but not with a usable watch: the place asked for may be one it does not know. */
function isRejection(error: Error | undefined): boolean {
  if (error instanceof TooManyRequestsError) return false;
  return error instanceof ApiError || error instanceof WatchMalformedError;
}
