import { Buffer } from 'node:buffer';

/** Maximum length of a line, so that an endless one cannot fill the memory. etcd rejects objects far smaller than this. */
export const maxLineBytes = 32 * 1024 * 1024;

/** The current line is longer than `maxLineBytes`. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';

  constructor() {
    super(`a line is longer than ${maxLineBytes} bytes`);
  }
}

const newline = 0x0a;

/**
 * Splits a stream of bytes into lines of text. It decodes only whole lines, so that a UTF-8 character split by a chunk border
 * survives. It drops empty lines.
 */
export class LineSplitter {
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;

  /** Calls `onLine` for each line that ends in this chunk, in order. Throws LineTooLongError and the errors of `onLine`. */
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
    if (this.#pendingBytes > maxLineBytes) {
      throw new LineTooLongError();
    }
  }

  /** Bytes of the incomplete line. If not 0 at the end of a stream, the stream was truncated. */
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
