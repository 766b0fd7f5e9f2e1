/**
 * Callbacks for when signals abort, with one listener a signal however many callbacks it has: an EventTarget looks through
 * all its listeners whenever one is added, which thousands of calls under one signal would pay for with each other.
 */
export class AbortListeners {
  /** signal -> what to call, and the one listener that does */
  readonly #bySignal = new Map<AbortSignal, { readonly callbacks: Set<() => void>; readonly listener: () => void }>();

  /** The signal must not have aborted yet. Each callback is called at most once, in the order in which they were added. */
  add(signal: AbortSignal, callback: () => void): void {
    let entry = this.#bySignal.get(signal);
    if (entry === undefined) {
      const callbacks = new Set<() => void>();
      const listener = (): void => {
        this.#bySignal.delete(signal);
        for (const each of callbacks) each();
      };
      entry = { callbacks, listener };
      this.#bySignal.set(signal, entry);
      signal.addEventListener('abort', listener, { once: true });
    }
    entry.callbacks.add(callback);
  }

  /** Does nothing when it is not there any more. */
  delete(signal: AbortSignal, callback: () => void): void {
    const entry = this.#bySignal.get(signal);
    if (!entry?.callbacks.delete(callback) || entry.callbacks.size > 0) return;
    this.#bySignal.delete(signal);
    signal.removeEventListener('abort', entry.listener);
  }
}
