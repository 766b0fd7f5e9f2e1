import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { Server, createServer, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { systemClock } from '../../base/system-clock.ts';
import { collectGarbage } from '../../base/testing/collect-garbage.ts';
import { EmbeddedApiServer } from './embedded-api-server.ts';
import type { Intercept } from './embedded-api-server.ts';
import { ApiError } from './http/api-error.ts';
import { jsonResponse } from './http/response.ts';
import { listenHttp } from './listen-http.ts';
import type { HttpListener } from './listen-http.ts';
import { configMapManifest, configMapsPath } from './testing/manifests.ts';
import { hangsMs } from '../../../test/planes/patience.ts';

describe('over HTTP', () => {
  let server: EmbeddedApiServer;
  let listener: HttpListener;
  let intercept: Intercept | undefined;

  beforeEach(async () => {
    intercept = undefined;
    server = new EmbeddedApiServer({
      clock: systemClock,
      random: seededRandom(1),
      intercept: (request, proceed) => intercept?.(request, proceed),
    });
    listener = await listenHttp(server, 0);
  });

  afterEach(async () => {
    server.close();
    await listener.close();
  });

  function post(name: string): Promise<Response> {
    return fetch(`${listener.url}${configMapsPath}?fieldManager=test`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'test/1' },
      body: JSON.stringify(configMapManifest(name, { text: 'ünïcödé' })),
    });
  }

  it('creates, reads and lists', async () => {
    expect((await post('a')).status).toBe(201);
    const read = await fetch(`${listener.url}${configMapsPath}/a`);
    expect(read.headers.get('content-type')).toBe('application/json');
    expect(await read.json()).toMatchObject({ kind: 'ConfigMap', data: { text: 'ünïcödé' } });
    expect(await (await fetch(`${listener.url}${configMapsPath}`)).json()).toMatchObject({
      items: [{ data: { text: 'ünïcödé' } }],
    });
  });

  it('streams a watch, sends its headers first, and ends it when the server closes', async () => {
    const response = await fetch(`${listener.url}${configMapsPath}?watch=true`);
    expect(response.status).toBe(200);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    await post('a');
    const { value } = await reader.read();
    expect(JSON.parse(value!)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
    server.close();
    expect((await reader.read()).done).toBe(true);
  });

  it('closes while a client has a watch open', async () => {
    const response = await fetch(`${listener.url}${configMapsPath}?watch=true`);
    const read = response.text();
    await Promise.all([listener.close(), expect(read).rejects.toThrow()]);
  });

  it('ends a watch when its client disconnects', async () => {
    const controller = new AbortController();
    const response = await fetch(`${listener.url}${configMapsPath}?watch=true`, { signal: controller.signal });
    expect(server.openWatches).toBe(1);
    controller.abort();
    await expect(response.text()).rejects.toThrow();
    await expect.poll(() => server.openWatches).toBe(0);
  });

  it('returns an injected fault, then serves the next request', async () => {
    const details = { retryAfterSeconds: 7 };
    const rejection = new ApiError(429, 'TooManyRequests', 'slow down', details);
    intercept = () => jsonResponse(rejection.toStatus(), { status: 429, headers: { 'retry-after': '7' } });
    const rejected = await post('a');
    expect(rejected.status).toBe(429);
    expect(rejected.headers.get('retry-after')).toBe('7');
    expect(await rejected.json()).toMatchObject({ reason: 'TooManyRequests', details: { retryAfterSeconds: 7 } });
    intercept = undefined;
    expect((await post('a')).status).toBe(201);
  });

  it('can lose a connection before or after the write', async () => {
    intercept = () => {
      throw new Error('lost');
    };
    await expect(post('before')).rejects.toThrow();
    intercept = (_request, proceed) => {
      proceed();
      throw new Error('lost');
    };
    await expect(post('after')).rejects.toThrow();
    intercept = undefined;
    expect((await fetch(`${listener.url}${configMapsPath}/before`)).status).toBe(404);
    expect((await fetch(`${listener.url}${configMapsPath}/after`)).status).toBe(200);
  });

  it('rejects a body beyond the limit, and a method that it does not support', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ data: 'x'.repeat(3 * 1024 * 1024) });
    expect((await fetch(`${listener.url}${configMapsPath}`, { method: 'POST', headers, body })).status).toBe(413);
    expect((await fetch(`${listener.url}/version`, { method: 'OPTIONS' })).status).toBe(405);
  });

  it('survives a client that disconnects during its request', async () => {
    const broken = httpRequest(`${listener.url}${configMapsPath}`, {
      method: 'POST',
      headers: { 'content-length': 1000 },
    });
    broken.on('error', () => undefined);
    broken.write('{');
    await once(broken, 'socket');
    broken.destroy();
    expect((await post('a')).status).toBe(201);
  });
});

describe('hostile clients', () => {
  const administratorToken = 'a-token-that-is-hard-to-guess';
  const authorization = `Bearer ${administratorToken}`;
  let server: EmbeddedApiServer;
  let listener: HttpListener;

  beforeEach(async () => {
    server = new EmbeddedApiServer({ clock: systemClock, random: seededRandom(1), administratorToken });
    listener = await listenHttp(server, 0);
  });

  afterEach(async () => {
    server.close();
    await listener.close();
  });

  const isThere = async (): Promise<boolean> =>
    (await fetch(`${listener.url}${configMapsPath}`, { headers: { authorization } })).status === 200;

  /** Opens a connection and sends the pieces. Resolves once the socket has accepted them. */
  async function sent(...pieces: readonly (string | Buffer)[]): Promise<Socket> {
    const socket = connect(listener.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    for (const piece of pieces) await new Promise((resolve) => socket.write(piece, resolve));
    return socket;
  }

  /** Returns the status codes received until the server closes or `count` responses have begun. */
  async function answers(socket: Socket, count: number): Promise<string[]> {
    let text = '';
    for await (const piece of socket) {
      text += String(piece);
      if (text.split('HTTP/1.1 ').length > count) break;
    }
    return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status!);
  }

  it('cannot fill the memory with the bodies of unauthenticated requests', async () => {
    const bytes = 3_000_000;
    const half = Buffer.alloc(bytes - 1, ' ');
    const before = process.memoryUsage().arrayBuffers;
    const sockets = await Promise.all(
      Array.from({ length: 60 }, () =>
        sent(
          `POST ${configMapsPath} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`,
          half,
        ),
      ),
    );
    // Each request takes a few turns of the event loop, in which the server reads some of every body.
    for (let turn = 0; turn < 100; turn++) await isThere();
    await collectGarbage(() => process.memoryUsage().arrayBuffers - before < 40_000_000);
    sockets[0]!.write(' ');
    expect(await answers(sockets[0]!, 1)).toEqual(['401']);
    for (const socket of sockets) socket.destroy();
    expect(await isThere()).toBe(true);
  });

  it('get pipelined responses in order, and do not block other clients by not reading them', async () => {
    const get = `GET ${configMapsPath} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization}\r\n\r\n`;
    const rejected = 'GET /api/v1/pods HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
    const reader = await sent(get + rejected + get);
    expect(await answers(reader, 3)).toEqual(['200', '401', '200']);
    const flood = connect(listener.port, '127.0.0.1');
    await once(flood, 'connect');
    flood.on('error', () => undefined);
    // The client reads no response, so the server stops reading requests before all have arrived.
    flood.write(get.repeat(100_000));
    await vi.waitFor(async () => expect(await isThere()).toBe(true), { timeout: hangsMs, interval: 10 });
    flood.destroy();
  });

  it('are disconnected if they do not read their watches, while clients that read are not', async () => {
    const strict = await listenHttp(server, 0, { stalledMs: 100 });
    const watchPath = `${configMapsPath}?watch=true`;
    const stalled = connect(strict.port, '127.0.0.1');
    stalled.on('error', () => undefined);
    stalled.pause();
    stalled.write(`GET ${watchPath} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization}\r\n\r\n`);
    const reading = await fetch(`${strict.url}${watchPath}`, { headers: { authorization } });
    await vi.waitFor(() => expect(server.openWatches).toBe(2));
    const drained = (async () => {
      for await (const piece of reading.body!) void piece;
    })().catch(() => undefined);
    const write = (number: number): Promise<Response> =>
      fetch(`${strict.url}${configMapsPath}`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(configMapManifest(`large-${number}`, { text: 'x'.repeat(900_000) })),
      });
    // More than the socket buffers hold.
    for (let number = 0; number < 30; number++) expect((await write(number)).status).toBe(201);
    await vi.waitFor(() => expect(server.openWatches).toBe(1), { timeout: hangsMs });
    stalled.destroy();
    await strict.close();
    await drained;
  });

  it.each([
    ['CONNECT to another host', 'CONNECT elsewhere.test:443 HTTP/1.1\r\nHost: elsewhere.test:443\r\n\r\n', []],
    [
      'an upgrade',
      `GET ${configMapsPath} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nAuthorization: ${authorization}\r\n\r\n`,
      ['200'],
    ],
    ['HEAD', 'HEAD /version HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n', ['405']],
    ['endless headers', `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'x'.repeat(100_000)}`, ['431']],
    ['thousands of headers', `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n${'x: y\r\n'.repeat(10_000)}\r\n`, ['431']],
    [
      'an endless chunk',
      'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n',
      ['400'],
    ],
  ])('lose only their own connection by sending %s', async (_case, text, statuses) => {
    const socket = await sent(text);
    expect(await answers(socket, 1)).toEqual(statuses);
    socket.destroy();
    expect(await isThere()).toBe(true);
  });
});

describe('listenHttp', () => {
  const server = new EmbeddedApiServer({ clock: systemClock, random: seededRandom(1) });

  it('names a port that is in use and the remedy', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const rejected = await listenHttp(server, port).catch((error: unknown) => error);
    expect(rejected).toMatchObject({
      name: 'PortUnavailableError',
      port,
      message: `cannot serve on 127.0.0.1, port ${port}: the port is in use. Choose another port with --port`,
    });
    other.close();
  });

  it('names a port that the user may not listen on and the remedy', async () => {
    const cause = Object.assign(new Error('listen EACCES: permission denied 127.0.0.1:80'), { code: 'EACCES' });
    vi.spyOn(Server.prototype, 'listen').mockImplementationOnce(function reject(this: Server) {
      process.nextTick(() => this.emit('error', cause));
      return this;
    });
    const rejected: unknown = await listenHttp(server, 80).catch((error: unknown) => error);
    expect(rejected).toMatchObject({
      name: 'PortUnavailableError',
      port: 80,
      message: 'cannot serve on 127.0.0.1, port 80: this user may not open the port. Choose another port with --port',
      cause,
    });
  });
});
