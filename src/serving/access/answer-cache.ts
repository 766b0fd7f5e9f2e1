import type { Clock } from '../../base/clock.ts';

export interface AnswerCacheOptions<T> {
  readonly clock: Clock;
  /** How long an answer is good, in milliseconds; 0: for those alone who asked meanwhile. */
  readonly goodForMs: (answer: T) => number;
}

/** More calls are under way than may be, in all or on behalf of one client. */
export class TooManyCallsError extends Error {
  override readonly name = 'TooManyCallsError';
}

/** Answers that are remembered: what is known longest is forgotten beyond it, so that made-up questions cost no more memory. */
const mostRemembered = 1_024;
const mostCalls = 16;
/** One client with ever new questions must not keep others from asking. */
const mostCallsForOne = 4;

/**
 * Remembers answers that cost a call. However many ask the same at the same time, one call is made; a call that fails fails them all,
 * and is not remembered.
 */
export class AnswerCache<T> {
  readonly #clock: Clock;
  readonly #goodForMs: (answer: T) => number;
  /** key -> its answer, the oldest first */
  readonly #known = new Map<string, { readonly answer: T; readonly goodUntil: number }>();
  /** key -> the call that is under way */
  readonly #calls = new Map<string, Promise<T>>();
  /** client -> how many of the calls were begun for it */
  readonly #callsFor = new Map<string, number>();

  constructor({ clock, goodForMs }: AnswerCacheOptions<T>) {
    this.#clock = clock;
    this.#goodForMs = goodForMs;
  }

  /** What is known, else what `call` answers. Rejects with what that rejects with, or with TooManyCallsError. */
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
    if (this.#calls.size >= mostCalls || ofClient >= mostCallsForOne) {
      throw new TooManyCallsError('too many calls are under way');
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
    if (this.#known.size > mostRemembered) this.#known.delete(this.#known.keys().next().value!);
    return answer;
  }
}
