import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  answerJson,
  answerStatus,
  cutsAfter,
  MisbehavingServer,
  resetsConnection,
  saysNothing,
  streams,
} from '../../test/planes/misbehaving-server.ts';
import type { Credentials, Endpoint } from './endpoint.ts';
import { fixedEndpoint } from './endpoint.ts';
import { readText } from './read-text.ts';
import { UndiciTransport } from './undici-transport.ts';

let server: MisbehavingServer;
let transport: UndiciTransport;

beforeEach(async () => {
  server = await MisbehavingServer.start();
  transport = new UndiciTransport({ endpoint: fixedEndpoint(server.url) });
});

afterEach(async () => {
  await transport.close();
  await server.close();
});

const get = { method: 'GET', path: '/api', headers: {} } as const;

describe('a call', () => {
  test('carries method, path with query, headers and body, and brings back status, headers and body', async () => {
    server.otherwise(answerJson({ ok: true }, 201, { 'x-many': 'a' }));
    const response = await transport.send({
      method: 'POST',
      path: '/api/v1/pods?dryRun=All',
      headers: { 'content-type': 'application/json' },
      body: '{"a":"ü"}',
    });
    expect(response.status).toBe(201);
    expect(response.headers['x-many']).toBe('a');
    expect(await readText(response.body)).toBe('{"ok":true}');
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/api/v1/pods', body: '{"a":"ü"}' });
    expect(server.requests[0]!.query.get('dryRun')).toBe('All');
  });

  test('takes an error status for an answer', async () => {
    server.otherwise(answerStatus(500, 'InternalError', 'broken'));
    const response = await transport.send(get);
    expect(response.status).toBe(500);
    await readText(response.body);
    expect(server.requests).toHaveLength(1);
  });

  test('keeps its connection for later calls', async () => {
    server.otherwise(answerJson({}));
    for (let call = 0; call < 30; call++) await readText((await transport.send(get)).body);
    // The second is opened when a call comes before the first connection has been handed back.
    expect(server.connections).toBeLessThanOrEqual(2);
  });

  test('is sent once and rejects when the connection is reset', async () => {
    server.otherwise(resetsConnection);
    await expect(transport.send({ ...get, method: 'POST', body: '{}' })).rejects.toThrow();
    expect(server.requests).toHaveLength(1);
  });

  test('throws from its body when the connection is cut in the middle', async () => {
    server.otherwise(cutsAfter('{"half":'));
    const response = await transport.send(get);
    await expect(readText(response.body)).rejects.toThrow();
  });

  test('ends when its signal aborts, before the answer and in the middle of it', async () => {
    const before = new AbortController();
    server.next(saysNothing);
    const call = transport.send(get, before.signal);
    await expect.poll(() => server.requests.length).toBe(1);
    before.abort(new Error('no longer wanted'));
    await expect(call).rejects.toThrow();

    const during = new AbortController();
    server.next(streams({ first: true }));
    const response = await transport.send(get, during.signal);
    const reading = readText(response.body);
    during.abort(new Error('no longer wanted'));
    await expect(reading).rejects.toThrow();
  });

  test('goes under the path prefix of the server', async () => {
    const prefixed = new UndiciTransport({ endpoint: fixedEndpoint(`${server.url}/clusters/a/`) });
    server.otherwise(answerJson({}));
    await readText((await prefixed.send(get)).body);
    await prefixed.close();
    expect(server.requests[0]!.path).toBe('/clusters/a/api');
  });
});

describe('lanes', () => {
  test('a full call lane does not hold up the lease or a watch', async () => {
    const narrow = new UndiciTransport({ endpoint: fixedEndpoint(server.url), callConnections: 1 });
    server.next(saysNothing).otherwise(answerJson({}));
    const stuck = narrow.send(get).catch((error: unknown) => error);
    await expect.poll(() => server.requests.length).toBe(1);
    expect((await narrow.send({ ...get, lane: 'lease' })).status).toBe(200);
    expect((await narrow.send({ ...get, lane: 'watch' })).status).toBe(200);
    await narrow.close();
    expect(await stuck).toBeInstanceOf(Error);
  });

  test('any number of watches is open at once', async () => {
    server.otherwise(streams({ open: true }));
    const watches = await Promise.all(Array.from({ length: 20 }, () => transport.send({ ...get, lane: 'watch' })));
    expect(watches.map((watch) => watch.status)).toEqual(Array(20).fill(200));
    expect(server.connections).toBe(20);
  });
});

describe('credentials', () => {
  class ChangingEndpoint implements Endpoint {
    readonly server = server.url;
    readonly refusals: Credentials[] = [];
    current: Credentials = { tls: {}, tlsKey: 'old', headers: { authorization: 'Bearer old' } };
    credentials(): Promise<Credentials> {
      return Promise.resolve(this.current);
    }
    refused(credentials: Credentials): void {
      this.refusals.push(credentials);
    }
  }

  test('go with every request, and their refusal is reported', async () => {
    const endpoint = new ChangingEndpoint();
    const authenticated = new UndiciTransport({ endpoint });
    server.otherwise(answerStatus(401, 'Unauthorized', 'expired'));
    const response = await authenticated.send(get);
    await readText(response.body);
    await authenticated.close();
    expect(response.status).toBe(401);
    expect(server.requests[0]!.headers.authorization).toBe('Bearer old');
    expect(endpoint.refusals).toEqual([endpoint.current]);
  });

  test('with new certificates open new connections, while what runs on the old ones runs to its end', async () => {
    const endpoint = new ChangingEndpoint();
    const authenticated = new UndiciTransport({ endpoint });
    let finish = (): void => undefined;
    server.next((response) => {
      response.writeHead(200).write('begun ');
      finish = () => response.end('ended');
    });
    const old = await authenticated.send(get);
    const reading = readText(old.body);
    endpoint.current = { tls: {}, tlsKey: 'new', headers: { authorization: 'Bearer new' } };
    server.otherwise(answerJson({}));
    await readText((await authenticated.send(get)).body);
    expect(server.requests[1]!.headers.authorization).toBe('Bearer new');
    expect(server.requests[1]!.connection).not.toBe(server.requests[0]!.connection);
    finish();
    expect(await reading).toBe('begun ended');
    await authenticated.close();
  });
});

test('after close nothing is sent', async () => {
  await transport.close();
  await expect(transport.send(get)).rejects.toThrow('the transport is closed');
  expect(server.requests).toHaveLength(0);
});
