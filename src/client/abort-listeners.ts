/**
 * Runs callbacks when signals abort. It registers one listener per signal: an EventTarget scans all its listeners on every add,
 * which is expensive when thousands of calls share one signal.
 */
export class AbortListeners {
  /** signal -> its callbacks, and the one listener that runs them */
  readonly #bySignal = new Map<AbortSignal, { readonly callbacks: Set<() => void>; readonly listener: () => void }>();

  /** Adds a callback. The signal must not have aborted yet. Callbacks run at most once each, in the order of their addition. */
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

  /** Removes a callback. Does nothing if it was already removed. */
  delete(signal: AbortSignal, callback: () => void): void {
    const entry = this.#bySignal.get(signal);
    if (!entry?.callbacks.delete(callback) || entry.callbacks.size > 0) return;
    this.#bySignal.delete(signal);
    signal.removeEventListener('abort', entry.listener);
  }
}
