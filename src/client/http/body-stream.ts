import { Buffer } from 'node:buffer';

/** The stream's control over the connection that fills it. */
export interface BodySource {
  pause(): void;
  resume(): void;
  /** Called when the reader stops before the end of the body. */
  cancel(): void;
}

const pauseAtBytes = 1_048_576;

/** Streams a response body to one reader as it arrives. If the reader is slow, the stream pauses the connection. */
export class BodyStream implements AsyncIterableIterator<Uint8Array> {
  readonly #source: BodySource;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isPaused = false;
  #outcome: { readonly error?: Error } | undefined;
  #wake: (() => void) | undefined;

  constructor(source: BodySource) {
    this.#source = source;
  }

  /** Copies the chunk. */
  push(chunk: Buffer): void {
    this.#chunks.push(Buffer.from(chunk));
    this.#bytes += chunk.length;
    if (this.#bytes >= pauseAtBytes && !this.#isPaused) {
      this.#isPaused = true;
      this.#source.pause();
    }
    this.#wake?.();
  }

  /**
   * Ends the body. Without an error, the reader still receives the bytes that have arrived. With one, it receives only the error, so
   * that it cannot miss it.
   */
  end(error?: Error): void {
    this.#outcome ??= error === undefined ? {} : { error };
    this.#wake?.();
  }

  /** Returns all bytes that arrived since the last call, as one chunk. */
  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    while (this.#chunks.length === 0 && this.#outcome === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    if (this.#outcome?.error !== undefined) throw this.#outcome.error;
    if (this.#chunks.length === 0) return { done: true, value: undefined };
    const value = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#bytes = 0;
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#source.resume();
    }
    return { done: false, value };
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#chunks = [];
    if (this.#outcome === undefined) {
      this.#outcome = {};
      this.#source.cancel();
    }
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
