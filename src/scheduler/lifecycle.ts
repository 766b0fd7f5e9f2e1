/** Whether the scheduler may start work, and what stops the work that it has started. */
export class Lifecycle {
  readonly #stop = new AbortController();
  readonly #cut = new AbortController();
  #hasBegun = false;

  /** The cache is complete, and the queue was filled from it. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isRunning(): boolean {
    return this.#hasBegun && !this.#stop.signal.aborted;
  }

  /** Aborted when the scheduler stops: no new work starts. */
  get stopping(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborted after `stopping`, when the bindings that are under way must end, too. */
  get cutting(): AbortSignal {
    return this.#cut.signal;
  }

  /** False when the scheduler has begun or stopped before. */
  begin(): boolean {
    if (this.#hasBegun || this.#stop.signal.aborted) return false;
    this.#hasBegun = true;
    return true;
  }

  stop(reason: Error): void {
    this.#stop.abort(reason);
  }

  cut(reason: Error): void {
    this.#cut.abort(reason);
  }
}
