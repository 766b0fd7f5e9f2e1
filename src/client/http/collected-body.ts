import { Buffer } from 'node:buffer';

/** A complete response body: for calls, where a stream would cost more than the call itself. */
export class CollectedBody implements AsyncIterable<Uint8Array> {
  readonly #chunks: Buffer[] = [];
  #length = 0;

  /** In bytes. */
  get length(): number {
    return this.#length;
  }

  /** Copies the chunk. */
  push(chunk: Buffer): void {
    this.#chunks.push(Buffer.from(chunk));
    this.#length += chunk.length;
  }

  /** Returns the body decoded from UTF-8 as a whole, so that a character split across chunks survives. */
  text(): string {
    return this.#chunks.length === 1 ? this.#chunks[0]!.toString('utf8') : Buffer.concat(this.#chunks).toString('utf8');
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    yield* this.#chunks;
  }
}
