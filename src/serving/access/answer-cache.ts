import type { Clock } from '../../base/clock.ts';

export interface AnswerCacheOptions<T> {
  readonly clock: Clock;
  /** How long an answer stays valid, in milliseconds; 0: only for calls that were already waiting for it. */
  readonly goodForMs: (answer: T) => number;
}

/** Too many calls are in flight, in total or for one client. */
export class TooManyCallsError extends Error {
  override readonly name = 'TooManyCallsError';
}

/** Maximum cached answers. Beyond it the oldest is dropped, so that made-up tokens and paths cannot fill the memory. */
const maxRemembered = 1_024;
const maxCalls = 16;
/** Limit per client: one client with ever new requests must not block the others. */
const maxCallsPerClient = 4;

/**
 * Caches answers that cost a call. Concurrent requests for the same key share one call. If that call fails, it fails for all of
 * them and is not cached.
 */
export class AnswerCache<T> {
  readonly #clock: Clock;
  readonly #goodForMs: (answer: T) => number;
  /** key -> its answer, oldest first */
  readonly #known = new Map<string, { readonly answer: T; readonly goodUntil: number }>();
  /** key -> its call in flight */
  readonly #calls = new Map<string, Promise<T>>();
  /** client -> number of calls started for it */
  readonly #callsFor = new Map<string, number>();

  constructor({ clock, goodForMs }: AnswerCacheOptions<T>) {
    this.#clock = clock;
    this.#goodForMs = goodForMs;
  }

  /** Returns the cached answer, or the result of `call`. Rejects with the error of `call`, or with TooManyCallsError. */
  async get(key: string, client: string, call: () => Promise<T>): Promise<T> {
    const known = this.#known.get(key);
    if (known !== undefined) {
      if (this.#clock.monotonic() < known.goodUntil) return known.answer;
      this.#known.delete(key);
    }
    return this.#calls.get(key) ?? this.#begin(key, client, call);
  }

  #begin(key: string, client: string, call: () => Promise<T>): Promise<T> {
    const ofClient = this.#callsFor.get(client) ?? 0;
    if (this.#calls.size >= maxCalls || ofClient >= maxCallsPerClient) {
      throw new TooManyCallsError('too many calls are in flight');
    }
    this.#callsFor.set(client, ofClient + 1);
    const begun = this.#callAndRemember(key, call).finally(() => {
      this.#calls.delete(key);
      const left = this.#callsFor.get(client)! - 1;
      if (left > 0) this.#callsFor.set(client, left);
      else this.#callsFor.delete(client);
    });
    this.#calls.set(key, begun);
    return begun;
  }

  async #callAndRemember(key: string, call: () => Promise<T>): Promise<T> {
    const answer = await call();
    this.#known.set(key, { answer, goodUntil: this.#clock.monotonic() + this.#goodForMs(answer) });
    if (this.#known.size > maxRemembered) this.#known.delete(this.#known.keys().next().value!);
    return answer;
  }
}
