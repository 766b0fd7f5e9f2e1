import { Buffer } from 'node:buffer';

/** What a parser tells of one answer: its head, then any number of chunks. */
export interface ResponseListener {
  /** Header names in lower case; a header sent more than once is joined with ", ". */
  onHead(status: number, headers: Readonly<Record<string, string>>): void;
  /** The chunk's memory belongs to the socket: it must be copied or decoded before this returns. */
  onBody(chunk: Buffer): void;
}

/** A server, or what stands in for one, does not speak HTTP/1.1 as RFC 9112 has it. */
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

/** Of a head, or of a line between chunks. An API server's heads have less than 1 KB. */
const longestText = 65_536;
const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |$)/;
/** Neither the ends of lines alone nor NUL: what reads them as such would see other headers. */
const notInLine = /[^\t\x20-\x7e\x80-\xff]/;
const headerName = /^[!#$%&'*+.^_`|~\w-]+$/;

/**
 * Reads the answers on one connection (RFC 9112), cut into chunks anywhere. Strict: what could be understood in two ways is
 * an error, after which the connection is of no use. Interim answers (100 to 199) are skipped.
 */
export class ResponseParser {
  #state: State = ended;
  #listener: ResponseListener | undefined;
  /** The beginning of a head or line whose end has not come yet. */
  #begun: Buffer | undefined;
  #mayBeKept = true;

  /** The next answer is for this listener. Only when the one before has ended. */
  expect(listener: ResponseListener): void {
    this.#listener = listener;
    this.#state = head;
  }

  /** Whether the answer has been told whole. */
  get hasEnded(): boolean {
    return this.#state === ended;
  }

  /** Whether the connection can carry another request after an answer that has ended. */
  get mayBeKept(): boolean {
    return this.#mayBeKept;
  }

  /** Throws HttpProtocolError. Returns how many of the bytes are left over: nobody has asked for them. */
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
        if (bytes.length - at > longestText) throw new HttpProtocolError('the head of an answer has no end');
        this.#begun = Buffer.from(bytes.subarray(at));
        return 0;
      }
      at = next;
    }
    return bytes.length - at;
  }

  /** The server has closed the connection. Throws HttpProtocolError unless that is how the answer ends. */
  pushEnd(): void {
    if (this.#state === untilClose) this.#state = ended;
    else if (this.#state === head && this.#begun === undefined) {
      throw new HttpProtocolError('the connection was closed before the answer');
    } else if (this.#state !== ended) {
      throw new HttpProtocolError('the connection was closed in the middle of the answer');
    }
  }

  /** Reads on from `at`; returns where it got to, or undefined when it needs more bytes than there are. */
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
    if (match === null) throw new HttpProtocolError(`the answer begins with ${JSON.stringify(first.slice(0, 80))}`);
    const status = Number(match[2]);
    if (status === 101) throw new HttpProtocolError('the server switches protocols unasked');
    if (status < 200) return;
    const headers: Record<string, string> = {};
    for (let i = 1; i < lines.length; i++) {
      const line = lines[i]!;
      const colon = line.indexOf(':');
      const name = line.slice(0, Math.max(0, colon)).toLowerCase();
      if (!headerName.test(name)) throw new HttpProtocolError(`not a header: ${JSON.stringify(line.slice(0, 80))}`);
      const value = line.slice(colon + 1).trim();
      const before = headers[name];
      headers[name] = before === undefined ? value : `${before}, ${value}`;
    }
    const connection = headers.connection?.toLowerCase();
    const isCurrent = match[1] === '1';
    this.#mayBeKept = isCurrent && (connection === undefined || !/\bclose\b/.test(connection));
    if (!isCurrent && headers['transfer-encoding'] !== undefined) {
      throw new HttpProtocolError('an answer in HTTP/1.0 has a transfer-encoding, which only HTTP/1.1 knows');
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
      if (length !== undefined) throw new HttpProtocolError('the answer is chunked and has a content-length as well');
      return chunkSize;
    }
    if (length !== undefined) {
      if (!/^\d{1,15}$/.test(length)) throw new HttpProtocolError(`content-length is ${length.slice(0, 80)}`);
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
        if (match === null) throw new HttpProtocolError(`not a chunk's size: ${JSON.stringify(line.slice(0, 80))}`);
        const left = parseInt(match[1]!, 16);
        this.#state = left === 0 ? trailer : { kind: 'chunk', left };
        return;
      }
      case 'chunk-end':
        if (line !== '') throw new HttpProtocolError('a chunk is longer than was said');
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
  throw new HttpProtocolError(`a line has characters that none may have: ${JSON.stringify(line.slice(0, 80))}`);
}
