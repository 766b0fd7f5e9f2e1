import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { seededRandom } from '../../src/base/random.ts';
import type { Random } from '../../src/base/random.ts';

/** What happens to one request. */
interface Fate {
  /** Written one after another, each in a separate turn. `endless`: written repeatedly until the socket closes. */
  readonly pieces: readonly (Buffer | 'endless')[];
  readonly then: 'keep' | 'close' | 'reset' | 'hang';
  /** The response says that nothing was done, and that the request may be repeated. */
  readonly isRejection?: boolean;
  /** Further requests on this connection are ignored. */
  readonly isLast?: boolean;
}

type Making = (id: string, random: Random) => Fate;

const text = (value: string): Buffer => Buffer.from(value, 'latin1');
const good = (id: string, status = 200): string =>
  answerOf(status, JSON.stringify({ id, metadata: {}, items: [], again: id }));

function answerOf(status: number, body: string, headers = ''): string {
  return `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

const status = (code: number): string => JSON.stringify({ kind: 'Status', code, reason: 'Odd', message: 'x\u001b[2J' });

/** name -> what the server does */
const fates: Readonly<Record<string, Making>> = {
  good: (id) => ({ pieces: [text(good(id))], then: 'keep' }),
  'good, in many pieces': (id, random) => ({ pieces: cut(text(good(id)), random), then: 'keep' }),
  'good, in chunks': (id, random) => ({ pieces: cut(text(chunked(good(id))), random), then: 'keep' }),
  'good, until the connection closes': (id) => ({
    pieces: [text(`HTTP/1.1 200 OK\r\n\r\n{"id":"${id}","items":[],"again":"${id}"}`)],
    then: 'close',
  }),
  'good, and then an unsolicited one': (id) => ({
    pieces: [text(good(id) + good('smuggled'))],
    then: 'keep',
  }),
  // A client that has sent another request by then must take it for the response, because HTTP/1.1 cannot distinguish them. So no further
  // request is read.
  'good, and another one shortly after': (id) => ({
    pieces: [text(good(id)), text(''), text(good('late'))],
    then: 'close',
    isLast: true,
  }),
  'a 408 on an idle connection': (id) => ({
    pieces: [text(good(id)), text('HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n')],
    then: 'close',
  }),
  408: () => ({ pieces: [text(answerOf(408, ''))], then: 'close' }),
  429: () => ({ pieces: [text(answerOf(429, status(429), 'retry-after: 0\r\n'))], then: 'keep', isRejection: true }),
  503: () => ({ pieces: [text(answerOf(503, status(503)))], then: 'keep' }),
  409: () => ({ pieces: [text(answerOf(409, status(409)))], then: 'keep' }),
  'an odd status': (_, random) => {
    const code = 100 + Math.floor(random() * 500);
    return { pieces: [text(answerOf(code, '{}'))], then: 'keep', isRejection: code === 429 };
  },
  'many interim answers': (id) => ({ pieces: [text('HTTP/1.1 100 C\r\n\r\n'.repeat(500) + good(id))], then: 'keep' }),
  'nothing, and closed': () => ({ pieces: [], then: 'close' }),
  'nothing, and reset': () => ({ pieces: [], then: 'reset' }),
  'nothing, ever': () => ({ pieces: [], then: 'hang' }),
  'a part, and closed': (id, random) => ({ pieces: [part(good(id), random)], then: 'close' }),
  'a part, and reset': (id, random) => ({ pieces: [part(good(id), random)], then: 'reset' }),
  'a part, and nothing more': (id, random) => ({ pieces: [part(good(id), random)], then: 'hang' }),
  garbage: (_, random) => ({
    pieces: cut(Buffer.from(Array.from({ length: 300 }, () => random() * 256)), random),
    then: 'close',
  }),
  'one byte changed': (id, random) => ({
    pieces: [spoiled(text(random() < 0.5 ? good(id) : chunked(good(id))), random)],
    then: 'close',
  }),
  'a line feed alone': (id) => ({
    pieces: [text(good(id).replace('X\r\n', 'X\r\na: b\nconnection: close\r\n'))],
    then: 'keep',
  }),
  'two lengths': (id) => ({
    pieces: [text(good(id).replace('content-', 'content-length: 1\r\ncontent-'))],
    then: 'keep',
  }),
  'a length and chunks': (id) => ({
    pieces: [text(good(id).replace('content-', 'transfer-encoding: chunked\r\ncontent-'))],
    then: 'keep',
  }),
  'chunks in HTTP/1.0': (id) => ({ pieces: [text(chunked(good(id)).replace('1.1', '1.0'))], then: 'close' }),
  'invalid JSON': () => ({ pieces: [text(answerOf(200, '<html>'))], then: 'keep' }),
  'JSON that is not an object': (_, random) => ({
    pieces: [text(answerOf(200, ['null', '[]', '7', '"x"'][Math.floor(random() * 4)]!))],
    then: 'keep',
  }),
  'JSON without end of nesting': () => ({ pieces: [text(answerOf(200, '['.repeat(200_000)))], then: 'keep' }),
  'a head without end': () => ({ pieces: [text('HTTP/1.1 200 OK\r\na: '), 'endless'], then: 'hang' }),
  'a body without end': () => ({ pieces: [text('HTTP/1.1 200 OK\r\n\r\n'), 'endless'], then: 'hang' }),
  'an error that is a page': () => ({ pieces: [text(answerOf(500, 'x'.repeat(20_000)))], then: 'keep' }),
  'an answer that is too long': () => ({ pieces: [text(answerOf(200, 'x'.repeat(17_000_000)))], then: 'keep' }),
  'an error without end': () => ({ pieces: [text('HTTP/1.1 500 No\r\n\r\n'), 'endless'], then: 'hang' }),
  'chunks without end': () => ({
    pieces: [text('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffff\r\n'), 'endless'],
    then: 'hang',
  }),
  'a keep-alive of no time': (id) => ({
    pieces: [text(good(id).replace('X\r\n', 'X\r\nkeep-alive: timeout=0\r\n'))],
    then: 'keep',
  }),
};

/** name -> relative frequency */
const weights: Readonly<Record<string, number>> = {
  good: 40,
  'good, in many pieces': 10,
  'good, in chunks': 10,
  'good, until the connection closes': 4,
  'good, and then an unsolicited one': 4,
  'good, and another one shortly after': 2,
  'a 408 on an idle connection': 2,
  408: 2,
  429: 3,
  503: 3,
  409: 2,
  'an odd status': 2,
  'many interim answers': 1,
  'nothing, and closed': 3,
  'nothing, and reset': 3,
  'nothing, ever': 0.5,
  'a part, and closed': 4,
  'a part, and reset': 4,
  'a part, and nothing more': 0.5,
  garbage: 4,
  'one byte changed': 10,
  'a line feed alone': 1,
  'two lengths': 1,
  'a length and chunks': 1,
  'chunks in HTTP/1.0': 1,
  'invalid JSON': 1,
  'JSON that is not an object': 1,
  'JSON without end of nesting': 0.2,
  'a head without end': 0.3,
  'a body without end': 0.05,
  'an error that is a page': 2,
  'an answer that is too long': 0.05,
  'an error without end': 0.5,
  'chunks without end': 0.05,
  'a keep-alive of no time': 2,
};

const names = Object.keys(fates);
const total = names.reduce((sum, name) => sum + weights[name]!, 0);
const block = Buffer.alloc(65_536, 'x');

/** A server that parses requests properly and treats each according to its number. */
export class HostileServer {
  readonly #server: Server;
  readonly #seed: number;
  readonly #sockets = new Set<Socket>();
  readonly #spent = new WeakSet<Socket>();
  /** id of a write -> how often it was accepted, rejections excluded */
  readonly writes = new Map<string, number>();
  /** name of a fate -> how often */
  readonly dealt = new Map<string, number>();

  private constructor(server: Server, seed: number) {
    this.#server = server;
    this.#seed = seed;
    server.on('connection', (socket) => this.#serve(socket));
  }

  static async start(seed: number): Promise<HostileServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new HostileServer(server, seed);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket)).on('error', () => undefined);
    let received = '';
    socket.setEncoding('latin1').on('data', (data) => {
      received += String(data);
      const end = received.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = received.slice(0, end);
      const length = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0);
      if (received.length < end + 4 + length) return;
      received = received.slice(end + 4 + length);
      const [method = '', path = ''] = head.split(' ', 2);
      void this.#answer(socket, method, /\/fuzz\/(\d+)/.exec(path)?.[1] ?? '');
    });
  }

  async #answer(socket: Socket, method: string, id: string): Promise<void> {
    if (this.#spent.has(socket)) return;
    const taken = this.writes.get(id) ?? 0;
    // A repeated request may have another fate.
    const random = seededRandom(this.#seed * 1_000_003 + Number(id) * 7 + taken);
    const name = drawn(random);
    const { pieces, then, isRejection, isLast } = fates[name]!(id, random);
    if (isLast === true) this.#spent.add(socket);
    this.dealt.set(name, (this.dealt.get(name) ?? 0) + 1);
    if (method !== 'GET' && isRejection !== true) this.writes.set(id, taken + 1);
    for (const piece of pieces) {
      if (socket.destroyed) return;
      if (piece === 'endless') {
        const write = (): void => {
          while (!socket.destroyed && socket.write(block));
        };
        socket.on('drain', write);
        write();
        return;
      }
      if (piece.length > 0) socket.write(piece);
      if (pieces.length > 1) await new Promise((resolve) => setImmediate(resolve));
    }
    if (then === 'close') socket.end();
    if (then === 'reset') socket.resetAndDestroy();
  }
}

function drawn(random: Random): string {
  let left = random() * total;
  for (const name of names) {
    left -= weights[name]!;
    if (left < 0) return name;
  }
  return 'good';
}

function chunked(answer: string): string {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  const half = Math.floor(body.length / 2);
  const chunks = [body.slice(0, half), body.slice(half)].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  return `${head.replace(/content-length: \d+/, 'transfer-encoding: chunked')}\r\n\r\n${chunks.join('')}0\r\n\r\n`;
}

function cut(bytes: Buffer, random: Random): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + Math.floor(random() * 60);
    pieces.push(bytes.subarray(at, end));
    at = end;
  }
  return pieces;
}

function part(answer: string, random: Random): Buffer {
  return text(answer.slice(0, Math.floor(random() * answer.length)));
}

function spoiled(bytes: Buffer, random: Random): Buffer {
  const other = Buffer.from(bytes);
  other[Math.floor(random() * other.length)] = Math.floor(random() * 256);
  return other;
}
