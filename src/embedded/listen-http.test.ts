import { once } from 'node:events';
import { Server, createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { seededRandom } from '../base/random.ts';
import { systemClock } from '../base/system-clock.ts';
import { EmbeddedApiServer } from './embedded-api-server.ts';
import type { Intercept, RequestObservation } from './embedded-api-server.ts';
import { ApiError } from './http/api-error.ts';
import { jsonResponse } from './http/response.ts';
import { PortDeniedError, PortTakenError, listenHttp } from './listen-http.ts';
import type { HttpListener } from './listen-http.ts';
import { configMapManifest, configMapsPath } from './testing/manifests.ts';

describe('over HTTP', () => {
  let server: EmbeddedApiServer;
  let listener: HttpListener;
  let intercept: Intercept | undefined;
  let observed: RequestObservation[];

  beforeEach(async () => {
    intercept = undefined;
    observed = [];
    server = new EmbeddedApiServer({
      clock: systemClock,
      random: seededRandom(1),
      intercept: (request, proceed) => intercept?.(request, proceed),
      observe: (observation) => observed.push(observation),
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

  it('streams a watch, beginning with its head, and ends it when the server closes', async () => {
    const response = await fetch(`${listener.url}${configMapsPath}?watch=true`);
    expect(response.status).toBe(200);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    await post('a');
    const { value } = await reader.read();
    expect(JSON.parse(value!)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
    const closing = performance.now();
    server.close();
    expect((await reader.read()).done).toBe(true);
    await listener.close();
    // By itself node:http would let go of the connection after 5 s.
    expect(performance.now() - closing).toBeLessThan(4_000);
  });

  it('lets go of a watch whose client has left', async () => {
    const controller = new AbortController();
    const response = await fetch(`${listener.url}${configMapsPath}?watch=true`, { signal: controller.signal });
    expect(server.openWatches).toBe(1);
    controller.abort();
    await expect(response.text()).rejects.toThrow();
    await expect.poll(() => server.openWatches).toBe(0);
  });

  it('tells an observer what was asked and answered', async () => {
    await post('a');
    expect(observed).toEqual([
      {
        method: 'POST',
        path: configMapsPath,
        query: 'fieldManager=test',
        contentType: 'application/json',
        accept: '*/*',
        userAgent: 'test/1',
        status: 201,
      },
    ]);
  });

  it('answers with an injected fault, then goes on', async () => {
    const details = { retryAfterSeconds: 7 };
    const refusal = new ApiError({ code: 429, reason: 'TooManyRequests', message: 'slow down', details });
    intercept = () => jsonResponse(refusal.toStatus(), { status: 429, headers: { 'retry-after': '7' } });
    const refused = await post('a');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('7');
    expect(await refused.json()).toMatchObject({ reason: 'TooManyRequests', details: { retryAfterSeconds: 7 } });
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

  it('refuses a body beyond the limit and a method it does not have', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ data: 'x'.repeat(3 * 1024 * 1024) });
    expect((await fetch(`${listener.url}${configMapsPath}`, { method: 'POST', headers, body })).status).toBe(413);
    expect((await fetch(`${listener.url}/version`, { method: 'OPTIONS' })).status).toBe(405);
  });

  it('survives a client that vanishes in the middle of its request', async () => {
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

describe('listenHttp', () => {
  const server = new EmbeddedApiServer({ clock: systemClock, random: seededRandom(1) });

  it('says which port is taken and what to do', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const refused = await listenHttp(server, port).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PortTakenError);
    expect((refused as PortTakenError).port).toBe(port);
    expect((refused as PortTakenError).message).toContain(
      `port ${port} on 127.0.0.1 is already in use: stop the process`,
    );
    other.close();
  });

  it('says which port this user may not have and what to do', async () => {
    const cause = Object.assign(new Error('listen EACCES: permission denied 127.0.0.1:80'), { code: 'EACCES' });
    vi.spyOn(Server.prototype, 'listen').mockImplementationOnce(function refuse(this: Server) {
      process.nextTick(() => this.emit('error', cause));
      return this;
    });
    const refused: unknown = await listenHttp(server, 80).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PortDeniedError);
    expect(refused).toMatchObject({
      name: 'PortDeniedError',
      port: 80,
      message: 'this user may not listen on port 80 of 127.0.0.1: choose one from 1024 up (0 takes any free one)',
      cause,
    });
  });

  it('serves loopback addresses only', async () => {
    await expect(listenHttp(server, 0, { host: '0.0.0.0' })).rejects.toThrow('loopback');
  });
});
