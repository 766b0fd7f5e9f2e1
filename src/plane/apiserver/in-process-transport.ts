import type { Transport, TransportRequest, TransportResponse } from '../../client/transport.ts';
import type { EmbeddedApiServer } from './embedded-api-server.ts';

/** Passes requests to an embedded API server in the same process, without sockets or delays. */
export class InProcessTransport implements Transport {
  readonly #server: EmbeddedApiServer;
  readonly #closed = new AbortController();

  constructor(server: EmbeddedApiServer) {
    this.#server = server;
  }

  async send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    request.mayBeSent?.();
    const both = signal === undefined ? this.#closed.signal : AbortSignal.any([signal, this.#closed.signal]);
    return this.#server.handle(request, both);
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error('the transport is closed'));
  }
}
