import { Buffer } from 'node:buffer';

/** A line that never ends must not fill the memory. etcd rejects objects far smaller than this. */
export const longestLineBytes = 32 * 1024 * 1024;

/** The line that has begun is longer than `longestLineBytes`. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';

  constructor() {
    super(`a line is longer than ${longestLineBytes} bytes`);
  }
}

const newline = 0x0a;

/**
 * Cuts a stream of bytes into lines of text. Only whole lines are decoded, so a UTF-8 character cut in two by a chunk
 * border survives. Empty lines are dropped.
 */
export class LineSplitter {
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;

  /** Calls `onLine` for each line that ends in this chunk, in order. Throws LineTooLongError, and what `onLine` throws. */
  push(chunk: Uint8Array, onLine: (line: string) => void): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
      const line =
        this.#pendingBytes === 0 ? bytes.toString('utf8', start, end) : this.#join(bytes.subarray(start, end));
      start = end + 1;
      if (line !== '') onLine(line);
    }
    if (start === bytes.length) return;
    this.#pending.push(bytes.subarray(start));
    this.#pendingBytes += bytes.length - start;
    if (this.#pendingBytes > longestLineBytes) {
      throw new LineTooLongError();
    }
  }

  /** Bytes of a line whose end has not come: not 0 at the end of a stream means that it was cut. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  #join(last: Uint8Array): string {
    const line = Buffer.concat([...this.#pending, last]).toString('utf8');
    this.#pending = [];
    this.#pendingBytes = 0;
    return line;
  }
}
