import type { Buffer } from 'node:buffer';
import type { DialedSocket } from './dial.ts';
import { ResponseParser } from './response-parser.ts';
import type { ResponseListener } from './response-parser.ts';

/** One request and what becomes of its answer. */
export interface Exchange extends ResponseListener {
  /** Head and body, or the head alone when the body is bytes. */
  readonly request: string;
  readonly body: Uint8Array | undefined;
  /** Called when it is about to be written; throws when it must not be any more. */
  readonly mayBeSent: (() => void) | undefined;
  onEnd(): void;
  /** It has to wait behind others; called at once or never. */
  readonly onQueued: (() => void) | undefined;
  /** Instead of `onEnd`: the connection was lost or given up, or could not be made (DialError). */
  onError(error: Error): void;
}

export interface ConnectionOwner {
  /** The exchange has ended and the connection can carry another. */
  released(connection: HttpConnection): void;
  /** It carries nothing any more; the last notice. */
  closed(connection: HttpConnection): void;
}

/** A second before the server would: a request must not be written while it closes the connection. */
const keepAliveMarginMs = 1_000;

/** A socket that carries one exchange at a time, and waits for the next one for a limited time. */
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

  /** Only when it carries nothing. */
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

  /** Stops reading, when the reader of a body falls behind. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Closes at once; an exchange under way ends with this error. */
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
    this.#heedKeepAlive(headers['keep-alive']);
    this.#exchange!.onHead(status, headers);
  }

  onBody(chunk: Buffer): void {
    this.#exchange?.onBody(chunk);
  }

  #receive(bytes: Buffer): void {
    if (this.#isClosed) return;
    try {
      const surplus = this.#parser.push(bytes);
      if (this.#isClosed) return; // who listens has given it up
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

  /** `timeout=5`: how long the server will keep it while nothing is asked. */
  #heedKeepAlive(header: string | undefined): void {
    const seconds = header === undefined ? undefined : /\btimeout=(\d{1,6})\b/.exec(header)?.[1];
    if (seconds === undefined) return;
    const limitMs = Math.max(1, Number(seconds) * 1000 - keepAliveMarginMs);
    if (limitMs >= this.#idleTimeoutMs) return;
    this.#idleTimeoutMs = limitMs;
    this.#socket.setTimeout(limitMs);
  }
}
