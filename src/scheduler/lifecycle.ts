/** The states of the scheduler: whether new work may start, and the signals that abort running work. */
export class Lifecycle {
  readonly #stop = new AbortController();
  readonly #bindAbort = new AbortController();
  #hasBegun = false;

  /** The cache has synced, and the queue was filled from it. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isRunning(): boolean {
    return this.#hasBegun && !this.#stop.signal.aborted;
  }

  /** Aborted when the scheduler stops. No new work starts after that. */
  get stopping(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborted after `stopping`. Running bindings end then, too. */
  get bindSignal(): AbortSignal {
    return this.#bindAbort.signal;
  }

  /** Returns false if the scheduler has begun or stopped before. */
  begin(): boolean {
    if (this.#hasBegun || this.#stop.signal.aborted) return false;
    this.#hasBegun = true;
    return true;
  }

  stop(reason: Error): void {
    this.#stop.abort(reason);
  }

  abortBindings(reason: Error): void {
    this.#bindAbort.abort(reason);
  }
}
