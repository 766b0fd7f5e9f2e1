import type { Clock } from '../base/clock.ts';
import type { KubeClient } from './kube-client.ts';

export interface LeaseWatchOptions {
  readonly client: Pick<KubeClient, 'watch'>;
  readonly clock: Clock;
  /** Path of the collection. */
  readonly path: string;
  readonly name: string;
  /** Called when the Lease may have changed: read it. */
  readonly onChange: () => void;
  /** Ends the watch. */
  readonly signal: AbortSignal;
}

const lifeSeconds = 300;

/**
 * Watches a Lease and reports when it may have changed. It does not decode what the server sends. A failure only costs a hint and
 * is not an error.
 */
export class LeaseWatch {
  readonly #options: LeaseWatchOptions;
  readonly #closed = new AbortController();
  #isOpen = false;

  constructor(options: LeaseWatchOptions) {
    this.#options = options;
  }

  /** Opens the watch at this version of the Lease, unless it is open. */
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
      timeoutSeconds: String(lifeSeconds),
    });
    const end = new AbortController();
    const life = clock.setTimer((lifeSeconds + 30) * 1000, () => end.abort());
    try {
      const body = await client.watch(path, query, AbortSignal.any([signal, this.#closed.signal, end.signal]));
      for await (const chunk of body) if (chunk.length > 0) onChange();
    } finally {
      life.cancel();
    }
  }
}
