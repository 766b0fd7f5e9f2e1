import type { DialedSocket } from './dial.ts';
import { HttpConnection } from './http-connection.ts';
import type { ConnectionOwner, Exchange } from './http-connection.ts';

export interface ConnectionPoolOptions {
  readonly dial: (signal: AbortSignal) => Promise<DialedSocket>;
  /** Maximum number of connections, including those being opened. */
  readonly limit: number;
  /** How long an idle connection is kept, in milliseconds; shorter if the server asks for it. */
  readonly idleTimeoutMs: number;
}

/**
 * Connections to one server, opened on demand. The most recently used idle connection is reused first, so that surplus
 * connections time out after a peak. Exchanges wait in order for a free connection.
 */
export class ConnectionPool implements ConnectionOwner {
  readonly #options: ConnectionPoolOptions;
  readonly #idle: HttpConnection[] = [];
  readonly #busy = new Set<HttpConnection>();
  readonly #waiting = new Set<Exchange>();
  readonly #stop = new AbortController();
  #dialing = 0;
  #isDraining = false;

  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
  }

  submit(exchange: Exchange): void {
    const connection = this.#idle.pop();
    if (connection !== undefined) {
      if (!this.#start(connection, exchange)) this.#offer(connection);
      return;
    }
    this.#waiting.add(exchange);
    this.#dialForWaiting();
    if (this.#waiting.size > this.#dialing) exchange.onQueued?.();
  }

  /** Ends an exchange, together with its connection if it has one. Does nothing if it has already ended. */
  cancel(exchange: Exchange, reason: Error): void {
    if (this.#waiting.delete(exchange)) {
      exchange.onError(reason);
      return;
    }
    this.connectionOf(exchange)?.destroy(reason);
  }

  connectionOf(exchange: Exchange): HttpConnection | undefined {
    for (const connection of this.#busy) if (connection.exchange === exchange) return connection;
    return undefined;
  }

  /** Closes every connection once the exchanges in flight or waiting now have ended. */
  drain(): void {
    this.#isDraining = true;
    for (const connection of [...this.#idle]) connection.destroy();
  }

  /** Closes everything now; exchanges in flight or waiting end with this error. */
  destroy(error: Error): void {
    this.#isDraining = true;
    this.#stop.abort(error);
    for (const exchange of this.#waiting) {
      this.#waiting.delete(exchange);
      exchange.onError(error);
    }
    for (const connection of [...this.#idle, ...this.#busy]) connection.destroy(error);
  }

  /** Whether a drained pool has nothing left. */
  get isEmpty(): boolean {
    return this.#idle.length + this.#busy.size + this.#waiting.size + this.#dialing === 0;
  }

  released(connection: HttpConnection): void {
    this.#busy.delete(connection);
    this.#offer(connection);
  }

  closed(connection: HttpConnection): void {
    this.#busy.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
    this.#dialForWaiting();
  }

  /** Returns false if the exchange must no longer be sent; it has then ended. */
  #start(connection: HttpConnection, exchange: Exchange): boolean {
    try {
      exchange.mayBeSent?.();
    } catch (error) {
      exchange.onError(error as Error);
      return false;
    }
    this.#busy.add(connection);
    connection.start(exchange);
    return true;
  }

  #offer(connection: HttpConnection): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      if (this.#start(connection, next)) return;
    }
    this.#idle.push(connection);
    if (this.#isDraining) connection.destroy();
  }

  #dialForWaiting(): void {
    const { limit } = this.#options;
    while (this.#dialing < this.#waiting.size && this.#dialing + this.#busy.size + this.#idle.length < limit) {
      this.#dialing++;
      void this.#dial();
    }
  }

  /**
   * Opens a connection. A failure ends the exchange that has waited longest, so that no exchange waits forever for an absent
   * server.
   */
  async #dial(): Promise<void> {
    let dialed: DialedSocket;
    try {
      dialed = await this.#options.dial(this.#stop.signal);
    } catch (error) {
      this.#dialing--;
      const [next] = this.#waiting;
      if (next === undefined) return;
      this.#waiting.delete(next);
      next.onError(error as Error);
      this.#dialForWaiting();
      return;
    }
    this.#dialing--;
    const connection = new HttpConnection(dialed, this, this.#options.idleTimeoutMs);
    if (this.#stop.signal.aborted) connection.destroy();
    else this.#offer(connection);
  }
}
