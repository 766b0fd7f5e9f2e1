import type { StreamClient, StreamEvents } from '../route.ts';

export interface RelayedStreamOptions {
  readonly lagged: () => void;
  readonly closed: () => void;
}

/** A stream in the serving thread, whose texts come from the main thread. They may come before the response is open. */
export class RelayedStream {
  readonly #options: RelayedStreamOptions;
  #client: StreamClient | undefined;
  /** Undefined once the response is open. */
  #early: string[] | undefined = [];
  #hasEnded = false;

  constructor(options: RelayedStreamOptions) {
    this.#options = options;
  }

  readonly open = (client: StreamClient): StreamEvents => {
    this.#client = client;
    for (const text of this.#early ?? []) client.send(text);
    this.#early = undefined;
    if (this.#hasEnded) client.end();
    return this.#options;
  };

  send(text: string): void {
    if (this.#early !== undefined) this.#early.push(text);
    else this.#client?.send(text);
  }

  end(): void {
    this.#hasEnded = true;
    this.#client?.end();
  }
}
