import type { Clock } from '../base/clock.ts';
import type { KubeClient } from './kube-client.ts';

export interface LeaseWatchOptions {
  readonly client: Pick<KubeClient, 'watch'>;
  readonly clock: Clock;
  /** Of the collection. */
  readonly path: string;
  readonly name: string;
  /** Something has happened to the Lease, perhaps: read it. */
  readonly onChange: () => void;
  /** Ends it. */
  readonly signal: AbortSignal;
}

const lifeSeconds = 300;

/** Tells when a Lease may have changed. What the server sends is not read, and whatever fails is a missing hint, no error. */
export class LeaseWatch {
  readonly #options: LeaseWatchOptions;
  readonly #closed = new AbortController();
  #isOpen = false;

  constructor(options: LeaseWatchOptions) {
    this.#options = options;
  }

  /** Opens it from there when it is not open; the version is that of the Lease as it was read. */
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
    this.#closed.abort(new Error('the watch is not needed any more'));
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
