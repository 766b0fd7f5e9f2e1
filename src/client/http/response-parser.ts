import { Buffer } from 'node:buffer';

/** Receives one response: its headers, then any number of chunks. */
export interface ResponseListener {
  /** Header names in lower case; the values of a repeated header are joined with ", ". */
  onHead(status: number, headers: Readonly<Record<string, string>>): void;
  /** The socket owns the chunk's memory: copy or decode it before returning. */
  onBody(chunk: Buffer): void;
}

/** The peer does not speak HTTP/1.1 as defined by RFC 9112. */
export class HttpProtocolError extends Error {
  override readonly name = 'HttpProtocolError';
}

type State =
  | { readonly kind: 'ended' | 'head' | 'chunk-size' | 'chunk-end' | 'trailer' | 'until-close' }
  | { readonly kind: 'sized' | 'chunk'; left: number };

const ended: State = { kind: 'ended' };
const head: State = { kind: 'head' };
const chunkSize: State = { kind: 'chunk-size' };
const chunkEnd: State = { kind: 'chunk-end' };
const trailer: State = { kind: 'trailer' };
const untilClose: State = { kind: 'until-close' };

/** Maximum size of the headers, or of a line between chunks. An API server's headers have less than 1 KB. */
const maxTextBytes = 65_536;
const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |$)/;
/** Rejects NUL and a lone CR or LF: a peer that treats them as line ends would see other headers. */
const notInLine = /[^\t\x20-\x7e\x80-\xff]/;
const headerName = /^[!#$%&'*+.^_`|~\w-]+$/;

/**
 * Parses the responses on one connection (RFC 9112), split into chunks anywhere. It is strict: ambiguous input is an error, after
 * which the connection cannot be reused. It skips interim responses (100 to 199).
 */
export class ResponseParser {
  #state: State = ended;
  #listener: ResponseListener | undefined;
  /** The received part of incomplete headers or of an incomplete line. */
  #begun: Buffer | undefined;
  #mayBeKept = true;

  /** Sets the listener for the next response. Call it only after the previous response has ended. */
  expect(listener: ResponseListener): void {
    this.#listener = listener;
    this.#state = head;
  }

  /** Whether the listener has the whole response. */
  get hasEnded(): boolean {
    return this.#state === ended;
  }

  /** Whether the connection can carry another request after this response. */
  get mayBeKept(): boolean {
    return this.#mayBeKept;
  }

  /** Parses bytes. Returns the number of surplus bytes after the end of the response. Throws HttpProtocolError. */
  push(data: Buffer): number {
    let bytes = data;
    if (this.#begun !== undefined) {
      bytes = Buffer.concat([this.#begun, data]);
      this.#begun = undefined;
    }
    let at = 0;
    while (at < bytes.length && this.#state.kind !== 'ended') {
      const next = this.#step(bytes, at);
      if (next === undefined) {
        if (bytes.length - at > maxTextBytes)
          throw new HttpProtocolError('the headers or a line of the response are too long');
        this.#begun = Buffer.from(bytes.subarray(at));
        return 0;
      }
      at = next;
    }
    return bytes.length - at;
  }

  /** Reports that the server has closed the connection. Throws HttpProtocolError unless that ends the response. */
  pushEnd(): void {
    if (this.#state === untilClose) this.#state = ended;
    else if (this.#state === head && this.#begun === undefined) {
      throw new HttpProtocolError('the connection was closed before the response');
    } else if (this.#state !== ended) {
      throw new HttpProtocolError('the connection was closed in the middle of the response');
    }
  }

  /** Parses from `at`. Returns the new position, or undefined if it needs more bytes. */
  #step(bytes: Buffer, at: number): number | undefined {
    const state = this.#state;
    switch (state.kind) {
      case 'head': {
        const end = bytes.indexOf('\r\n\r\n', at, 'latin1');
        if (end < 0) return undefined;
        this.#readHead(bytes.toString('latin1', at, end));
        return end + 4;
      }
      case 'sized':
      case 'chunk': {
        const end = Math.min(bytes.length, at + state.left);
        state.left -= end - at;
        this.#listener!.onBody(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
        if (state.left === 0) this.#state = state.kind === 'chunk' ? chunkEnd : ended;
        return end;
      }
      case 'chunk-size':
      case 'chunk-end':
      case 'trailer': {
        const end = bytes.indexOf('\r\n', at, 'latin1');
        if (end < 0) return undefined;
        this.#readLine(state.kind, bytes.toString('latin1', at, end));
        return end + 2;
      }
      case 'until-close':
        this.#listener!.onBody(at === 0 ? bytes : bytes.subarray(at));
        return bytes.length;
      case 'ended':
        return at;
    }
  }

  #readHead(text: string): void {
    const lines = text.split('\r\n');
    for (const line of lines) checkLine(line);
    const first = lines[0]!;
    const match = statusLine.exec(first);
    if (match === null) throw new HttpProtocolError(`the response starts with ${JSON.stringify(first.slice(0, 80))}`);
    const status = Number(match[2]);
    if (status === 101) throw new HttpProtocolError('the server switches protocols without a request to do so');
    if (status < 200) return;
    const headers: Record<string, string> = {};
    for (let i = 1; i < lines.length; i++) {
      const line = lines[i]!;
      const colon = line.indexOf(':');
      const name = line.slice(0, Math.max(0, colon)).toLowerCase();
      if (!headerName.test(name)) throw new HttpProtocolError(`invalid header: ${JSON.stringify(line.slice(0, 80))}`);
      const value = line.slice(colon + 1).trim();
      const before = headers[name];
      headers[name] = before === undefined ? value : `${before}, ${value}`;
    }
    const connection = headers.connection?.toLowerCase();
    const isCurrent = match[1] === '1';
    this.#mayBeKept = isCurrent && (connection === undefined || !/\bclose\b/.test(connection));
    if (!isCurrent && headers['transfer-encoding'] !== undefined) {
      throw new HttpProtocolError('an HTTP/1.0 response has a transfer-encoding, which requires HTTP/1.1');
    }
    this.#state = this.#bodyOf(status, headers);
    this.#listener!.onHead(status, headers);
  }

  #bodyOf(status: number, headers: Readonly<Record<string, string>>): State {
    const coding = headers['transfer-encoding'];
    const length = headers['content-length'];
    if (status === 204 || status === 304) return ended;
    if (coding !== undefined) {
      if (coding.toLowerCase() !== 'chunked') throw new HttpProtocolError(`unknown transfer-encoding ${coding}`);
      if (length !== undefined)
        throw new HttpProtocolError('the response has both chunked transfer-encoding and a content-length');
      return chunkSize;
    }
    if (length !== undefined) {
      if (!/^\d{1,15}$/.test(length)) throw new HttpProtocolError(`invalid content-length ${length.slice(0, 80)}`);
      return Number(length) === 0 ? ended : { kind: 'sized', left: Number(length) };
    }
    this.#mayBeKept = false;
    return untilClose;
  }

  #readLine(kind: 'chunk-size' | 'chunk-end' | 'trailer', line: string): void {
    checkLine(line);
    switch (kind) {
      case 'chunk-size': {
        const match = /^([\da-f]{1,12})[\t ]*(?:;.*)?$/i.exec(line);
        if (match === null) throw new HttpProtocolError(`invalid chunk size: ${JSON.stringify(line.slice(0, 80))}`);
        const left = parseInt(match[1]!, 16);
        this.#state = left === 0 ? trailer : { kind: 'chunk', left };
        return;
      }
      case 'chunk-end':
        if (line !== '') throw new HttpProtocolError('a chunk is longer than its announced size');
        this.#state = chunkSize;
        return;
      case 'trailer':
        if (line === '') this.#state = ended;
        return;
    }
  }
}

function checkLine(line: string): void {
  if (!notInLine.test(line)) return;
  throw new HttpProtocolError(`a line contains characters that are not allowed: ${JSON.stringify(line.slice(0, 80))}`);
}
