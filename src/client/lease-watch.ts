import type { Clock } from '../base/clock.ts';
import type { KubeClient } from './kube-client.ts';

export interface LeaseWatchOptions {
  readonly client: Pick<KubeClient, 'watch'>;
  readonly clock: Clock;
  /** Path of the collection. */
  readonly path: string;
  readonly name: string;
  /** Called when the Lease may have changed; the owner then reads it. */
  readonly onChange: () => void;
  /** Ends the watch. */
  readonly signal: AbortSignal;
}

const timeoutSeconds = 300;

/**
 * Watches a Lease and reports when it may have changed. It does not decode what the server sends. A failed watch is
 * not an error: without it, the owner finds a change at its next regular read.
 */
export class LeaseWatch {
  readonly #options: LeaseWatchOptions;
  readonly #closed = new AbortController();
  #isOpen = false;

  constructor(options: LeaseWatchOptions) {
    this.#options = options;
  }

  /** Opens the watch at this version of the Lease, unless it is already open. */
  keepOpen(resourceVersion: string | undefined): void {
    if (this.#isOpen || resourceVersion === undefined) return;
    this.#isOpen = true;
    void this.#run(resourceVersion)
      .catch(() => undefined)
      .finally(() => {
        this.#isOpen = false;
      });
  }

  close(): void {
    this.#closed.abort(new Error('the watch is no longer needed'));
  }

  async #run(resourceVersion: string): Promise<void> {
    const { client, clock, path, name, onChange, signal } = this.#options;
    const query = new URLSearchParams({
      fieldSelector: `metadata.name=${name}`,
      resourceVersion,
      timeoutSeconds: String(timeoutSeconds),
    });
    // In case the server does not end the watch.
    const timeout = new AbortController();
    const timer = clock.setTimer((timeoutSeconds + 30) * 1000, () => timeout.abort());
    try {
      const body = await client.watch(path, query, AbortSignal.any([signal, this.#closed.signal, timeout.signal]));
      for await (const chunk of body) if (chunk.length > 0) onChange();
    } finally {
      timer.cancel();
    }
  }
}
