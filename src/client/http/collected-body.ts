import { Buffer } from 'node:buffer';

/** A response body that has arrived whole: for calls, where a stream would cost more than the call. */
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

  /** Decoded from UTF-8 as a whole, so that a character cut in two by chunks survives. */
  text(): string {
    return this.#chunks.length === 1 ? this.#chunks[0]!.toString('utf8') : Buffer.concat(this.#chunks).toString('utf8');
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    yield* this.#chunks;
  }
}
