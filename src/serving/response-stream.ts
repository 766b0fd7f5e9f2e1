import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import { httpLimits } from './http-limits.ts';
import type { StreamClient, StreamEvents } from './route.ts';

/** What a client is sent when there is nothing else: a comment of server-sent events. */
const comment = ': \n\n';

/**
 * A response that does not end by itself. Sends one text at a time, however long it is, and lets `httpLimits.streamBufferBytes` wait behind it. A client
 * that is too slow for that costs no more memory: what waits and what comes is dropped until it has received the text that is being sent.
 */
export class ResponseStream implements StreamClient {
  readonly #response: ServerResponse;
  readonly #ended: () => void;
  #events: StreamEvents | undefined;
  /** Texts that wait until the client has received what was written. */
  #waiting: string[] = [];
  #waitingBytes = 0;
  /** The client has not received all that was written. */
  #isBusy = false;
  #isLagging = false;
  #isEnding = false;
  #isClosed = false;
  #comments: NodeJS.Timeout | undefined;
  #stall: NodeJS.Timeout | undefined;

  /** `ended`: called when the response has ended. */
  constructor(response: ServerResponse, ended: () => void) {
    this.#response = response;
    this.#ended = ended;
  }

  /** The headers are sent; `text` follows them. */
  open(stream: (client: StreamClient) => StreamEvents, text: string): void {
    const response = this.#response;
    response.on('drain', () => this.#drained());
    response.once('close', () => this.#closed());
    this.#comments = setInterval(() => {
      if (!this.#isBusy) this.#write(comment);
    }, httpLimits.streamCommentMs);
    if (text !== '') this.send(text);
    this.#events = stream(this);
    if (response.destroyed) this.#closed();
  }

  send(text: string): void {
    if (this.#isLagging || this.#isEnding || this.#isClosed) return;
    if (!this.#isBusy) {
      this.#write(text);
      return;
    }
    this.#waitingBytes += Buffer.byteLength(text);
    if (this.#waitingBytes <= httpLimits.streamBufferBytes) {
      this.#waiting.push(text);
      return;
    }
    this.#isLagging = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  /** Does not wait for a client that is slow, and gives up one that does not read. */
  end(): void {
    if (this.#isEnding || this.#isClosed) return;
    this.#isEnding = true;
    if (!this.#isBusy) this.#limitStall();
    this.#response.end(this.#waiting.join(''));
    this.#waiting = [];
  }

  #write(text: string): void {
    if (this.#isClosed) return;
    // As bytes, which are outside the limited heap of the serving thread: a text stays in memory until the client has received all of it.
    this.#isBusy = !this.#response.write(Buffer.from(text));
    if (!this.#isBusy) return;
    this.#limitStall();
  }

  /** Ends the connection to a client that does not even read. */
  #limitStall(): void {
    this.#stall = setTimeout(() => this.#response.destroy(), httpLimits.streamStallMs);
  }

  #drained(): void {
    if (!this.#isEnding) clearTimeout(this.#stall);
    this.#isBusy = false;
    if (this.#isLagging) {
      this.#isLagging = false;
      this.#events?.lagged();
      return;
    }
    const text = this.#waiting.join('');
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (text !== '' && !this.#isEnding) this.#write(text);
  }

  #closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#comments);
    clearTimeout(this.#stall);
    this.#waiting = [];
    this.#ended();
    this.#events?.closed();
  }
}
