import { Pool } from 'undici';
import type { LoadTarget } from './load-protocol.ts';

/** A simple API client with a fixed number of connections. It has no retries and no cache, and shares no code with the schedulers. */
export class ApiCaller {
  readonly #pool: Pool;
  readonly #connections: number;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(target: LoadTarget, connections: number) {
    this.#connections = connections;
    this.#pool = new Pool(target.server, {
      connections,
      pipelining: 1,
      allowH2: false,
      bodyTimeout: 0,
      // The server is temporary and listens on loopback.
      connect: { rejectUnauthorized: false },
    });
    this.#headers = { 'user-agent': 'tutti-bench-load', authorization: `Bearer ${target.token}` };
  }

  /** Resolves to the body. Rejects with the server's message if the status is not 2xx. */
  async call(method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown): Promise<unknown> {
    const response = await this.#pool.request({
      method,
      path,
      headers: {
        ...this.#headers,
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 500)}`);
    return JSON.parse(text);
  }

  /** Runs `work` for 0 … count - 1, started in this order, one per connection at a time. */
  async each(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < count) await work(next++);
    };
    await Promise.all(Array.from({ length: Math.min(count, this.#connections) }, worker));
  }

  /** Opens a watch, and returns its body as a stream. */
  async stream(path: string): Promise<AsyncIterable<Uint8Array>> {
    const response = await this.#pool.request({ method: 'GET', path, headers: this.#headers, headersTimeout: 0 });
    if (response.statusCode >= 300) {
      throw new Error(`GET ${path}: ${response.statusCode} ${(await response.body.text()).slice(0, 500)}`);
    }
    return response.body;
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}
