import type { Buffer } from 'node:buffer';
import type { DialedSocket } from './dial.ts';
import { ResponseParser } from './response-parser.ts';
import type { ResponseListener } from './response-parser.ts';

/** One request and the handlers of its response. */
export interface Exchange extends ResponseListener {
  /** Headers and body, or the headers alone if the body is bytes. */
  readonly request: string;
  readonly body: Uint8Array | undefined;
  /** Called just before the request is written; throws if it must no longer be sent. */
  readonly mayBeSent: (() => void) | undefined;
  onEnd(): void;
  /** Called, at once or never, if the request must wait behind others. */
  readonly onQueued: (() => void) | undefined;
  /** Called instead of `onEnd` if the connection was lost or cancelled, or could not be opened (DialError). */
  onError(error: Error): void;
}

export interface ConnectionOwner {
  /** The exchange has ended and the connection can carry another one. */
  released(connection: HttpConnection): void;
  /** The connection is closed. This is the last notification. */
  closed(connection: HttpConnection): void;
}

/** The client closes an idle connection a second before the server would, so that it never writes a request to a closing one. */
const keepAliveMarginMs = 1_000;

/** A socket that carries one exchange at a time, and waits a limited time for the next. */
export class HttpConnection implements ResponseListener {
  readonly #socket: DialedSocket['socket'];
  readonly #owner: ConnectionOwner;
  readonly #parser = new ResponseParser();
  #exchange: Exchange | undefined;
  #isClosed = false;
  #idleTimeoutMs: number;

  constructor({ socket, receive }: DialedSocket, owner: ConnectionOwner, idleTimeoutMs: number) {
    this.#socket = socket;
    this.#owner = owner;
    this.#idleTimeoutMs = idleTimeoutMs;
    receive((bytes) => this.#receive(bytes));
    socket.on('end', () => this.#ended());
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy(new Error('the connection was closed')));
    socket.setTimeout(idleTimeoutMs, () => {
      if (this.#exchange === undefined) this.destroy();
    });
    socket.unref();
  }

  get exchange(): Exchange | undefined {
    return this.#exchange;
  }

  /** Starts an exchange. The connection must be idle. */
  start(exchange: Exchange): void {
    this.#exchange = exchange;
    this.#parser.expect(this);
    this.#socket.ref();
    if (exchange.body === undefined) {
      this.#socket.write(exchange.request);
      return;
    }
    this.#socket.cork();
    this.#socket.write(exchange.request);
    this.#socket.write(exchange.body);
    this.#socket.uncork();
  }

  /** Stops reading while the reader of a body is behind. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Closes at once; an exchange in flight ends with this error. */
  destroy(error = new Error('the connection was closed')): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.destroy();
    const exchange = this.#exchange;
    this.#exchange = undefined;
    this.#owner.closed(this);
    exchange?.onError(error);
  }

  onHead(status: number, headers: Readonly<Record<string, string>>): void {
    this.#applyKeepAlive(headers['keep-alive']);
    this.#exchange!.onHead(status, headers);
  }

  onBody(chunk: Buffer): void {
    this.#exchange?.onBody(chunk);
  }

  #receive(bytes: Buffer): void {
    if (this.#isClosed) return;
    try {
      const surplus = this.#parser.push(bytes);
      if (this.#isClosed) return; // the listener has cancelled the exchange
      if (this.#parser.hasEnded) this.#finish(this.#parser.mayBeKept && surplus === 0);
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  /** The server has closed its side. */
  #ended(): void {
    if (this.#isClosed) return;
    try {
      this.#parser.pushEnd();
      this.#finish(false);
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  #finish(mayBeKept: boolean): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    if (mayBeKept) {
      this.#socket.unref();
      this.#owner.released(this);
    } else {
      this.destroy();
    }
    exchange?.onEnd();
  }

  /** Applies `timeout=5`: how long the server keeps an idle connection. */
  #applyKeepAlive(header: string | undefined): void {
    const seconds = header === undefined ? undefined : /\btimeout=(\d{1,6})\b/.exec(header)?.[1];
    if (seconds === undefined) return;
    const limitMs = Math.max(1, Number(seconds) * 1000 - keepAliveMarginMs);
    if (limitMs >= this.#idleTimeoutMs) return;
    this.#idleTimeoutMs = limitMs;
    this.#socket.setTimeout(limitMs);
  }
}
