import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createProxy } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Server, ServerOptions } from 'node:https';
import { connect, createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  answerJson,
  answerStatus,
  cutsAfter,
  MisbehavingServer,
  resetsConnection,
  saysNothing,
  streams,
} from '../../../test/planes/misbehaving-server.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { deferred } from '../../base/deferred.ts';
import { ConnectionError, isAmbiguous, UnreachableError } from '../api-errors.ts';
import type { Credentials, Endpoint, TlsOptions } from '../endpoint.ts';
import { fixedEndpoint } from '../endpoint.ts';
import { KubeClient } from '../kube-client.ts';
import { KubeconfigError } from '../kubeconfig-error.ts';
import { readText } from '../read-text.ts';
import { HttpTransport } from './http-transport.ts';

let server: MisbehavingServer;
let transport: HttpTransport;

beforeEach(async () => {
  server = await MisbehavingServer.start();
  transport = new HttpTransport({ endpoint: fixedEndpoint(server.url) });
});

afterEach(async () => {
  await transport.close();
  await server.close();
});

const get = { method: 'GET', path: '/api', headers: {} } as const;

describe('a call', () => {
  test('sends method, path with query, headers and body, and returns status, headers and body', async () => {
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

  test('resolves with an error status', async () => {
    server.otherwise(answerStatus(500, 'InternalError', 'broken'));
    const response = await transport.send(get);
    expect(response.status).toBe(500);
    await readText(response.body);
    expect(server.requests).toHaveLength(1);
  });

  test('leaves its connection open for later calls', async () => {
    server.otherwise(answerJson({}));
    for (let call = 0; call < 30; call++) await readText((await transport.send(get)).body);
    // The second one opens if a call starts before the pool has the first connection back.
    expect(server.connections).toBeLessThanOrEqual(2);
  });

  test('sends once, and rejects when the connection is reset', async () => {
    server.otherwise(resetsConnection);
    await expect(transport.send({ ...get, method: 'POST', body: '{}' })).rejects.toThrow();
    expect(server.requests).toHaveLength(1);
  });

  test('rejects when the connection closes in the middle of the response', async () => {
    server.otherwise(cutsAfter('{"half":'));
    await expect(transport.send(get)).rejects.toThrow();
  });

  test('ends when its signal aborts, before or during the response', async () => {
    const before = new AbortController();
    server.next(saysNothing);
    const call = transport.send(get, before.signal);
    await expect.poll(() => server.requests.length).toBe(1);
    before.abort(new Error('no longer wanted'));
    await expect(call).rejects.toThrow();

    const during = new AbortController();
    const begun = deferred();
    server.next((response, ...more) => {
      streams({ first: true })(response, ...more);
      begun.resolve();
    });
    const answered = transport.send(get, during.signal);
    await begun.promise;
    during.abort(new Error('no longer wanted'));
    await expect(answered).rejects.toThrow('no longer wanted');
  });

  test.each([
    ['path', { ...get, path: '/api HTTP/1.1\r\nx: y' }],
    ['path', { ...get, path: '/api/v1/pods/ü' }],
    ['header', { ...get, headers: { 'user-agent': 'a\r\nx: y' } }],
  ])('sends nothing if the %s contains a line break or a character that is not allowed', async (_, request) => {
    await expect(transport.send(request)).rejects.toMatchObject({ name: 'ConnectionError', ambiguous: false });
    expect(server.connections).toBe(0);
  });

  test('sends a body of bytes unchanged', async () => {
    server.otherwise(answerJson({}));
    const body = Buffer.from('{"a":"ü"}');
    await readText((await transport.send({ ...get, method: 'PUT', body })).body);
    expect(server.requests[0]!.body).toBe('{"a":"ü"}');
  });

  test('prepends the path prefix of the server', async () => {
    const prefixed = new HttpTransport({ endpoint: fixedEndpoint(`${server.url}/clusters/a/`) });
    server.otherwise(answerJson({}));
    await readText((await prefixed.send(get)).body);
    await prefixed.close();
    expect(server.requests[0]!.path).toBe('/clusters/a/api');
  });
});

describe('connections', () => {
  test('stay within the limit, and further calls wait in order', async () => {
    const two = new HttpTransport({ endpoint: fixedEndpoint(server.url), callConnections: 2 });
    server.otherwise(answerJson({}));
    const paths = Array.from({ length: 20 }, (_, index) => `/${index}`);
    const calls = paths.map((path) => two.send({ ...get, path }));
    await Promise.all(calls.map(async (call) => readText((await call).body)));
    await two.close();
    expect(server.requests.map(({ path }) => path)).toEqual(paths);
    expect(server.connections).toBe(2);
  });

  test('include sixteen spare ones for calls that must not wait behind hanging ones', async () => {
    const one = new HttpTransport({ endpoint: fixedEndpoint(server.url), callConnections: 1 });
    server.otherwise((response, request) => {
      if (request.path === '/quick') answerJson({})(response, request);
      else saysNothing(response, request);
    });
    const end = new AbortController();
    const hanging = one.send({ ...get, path: '/hangs' }, end.signal).catch(() => 'given up');
    for (let index = 0; index < 8; index++) await one.send({ ...get, path: '/quick', connection: 'spare' });
    expect(server.connections).toBe(2);
    const many = Array.from({ length: 20 }, () =>
      one.send({ ...get, path: '/hangs', connection: 'spare' }, end.signal),
    );
    const all = Promise.allSettled([hanging, ...many]);
    await expect.poll(() => server.connections).toBe(1 + 16);
    end.abort(new Error('no longer wanted'));
    await all;
    await one.close();
    expect(server.requests.filter(({ path }) => path === '/hangs')).toHaveLength(1 + 16);
  });

  test('are never used for a call that is cancelled while it waits', async () => {
    const one = new HttpTransport({ endpoint: fixedEndpoint(server.url), callConnections: 1 });
    const answer = deferred<() => void>();
    server
      .next((response, request) => answer.resolve(() => answerJson({})(response, request)))
      .otherwise(answerJson({}));
    const first = one.send(get);
    const givenUp = new AbortController();
    const second = one.send({ ...get, path: '/second' }, givenUp.signal);
    const third = one.send({ ...get, path: '/third' });
    const finish = await answer.promise;
    givenUp.abort(new Error('no longer wanted'));
    await expect(second).rejects.toThrow('no longer wanted');
    finish();
    await Promise.all([first, third]);
    await one.close();
    expect(server.requests.map(({ path }) => path)).toEqual(['/api', '/third']);
  });

  test('that fail to open fail every waiting call, unambiguously', async () => {
    const unreachable = new HttpTransport({ endpoint: fixedEndpoint('http://127.0.0.1:1'), callConnections: 2 });
    const client = new KubeClient({ transport: unreachable, clock: new VirtualClock() });
    const errors = await Promise.all(
      Array.from({ length: 5 }, () => client.create('/p', {}).catch((error: unknown) => error)),
    );
    for (const error of errors) {
      expect(error).toMatchObject({
        name: 'UnreachableError',
        ambiguous: false,
        message: 'POST /p got no response: connect ECONNREFUSED 127.0.0.1:1',
      });
    }
  });

  test('that the server has closed are not reused', async () => {
    server.otherwise(answerJson({}));
    await readText((await transport.send(get)).body);
    server.cutConnections();
    await expect.poll(async () => (await transport.send(get).catch(() => undefined))?.status).toBe(200);
    expect(server.connections).toBe(2);
  });

  test("close before the server's keep-alive timeout", async () => {
    server.otherwise(answerJson({}, 200, { connection: 'keep-alive', 'keep-alive': 'timeout=1' }));
    await readText((await transport.send(get)).body);
    await expect.poll(() => server.openConnections()).toBe(0);
  });

  test('with surplus bytes from the server are not reused', async () => {
    const raw = createTcpServer((socket) => {
      socket.once('data', () => socket.write(`${'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'.repeat(2)}`));
    });
    raw.listen(0, '127.0.0.1');
    await once(raw, 'listening');
    let accepted = 0;
    raw.on('connection', () => accepted++);
    const url = `http://127.0.0.1:${(raw.address() as AddressInfo).port}`;
    const wary = new HttpTransport({ endpoint: fixedEndpoint(url) });
    for (let call = 0; call < 2; call++) expect(await readText((await wary.send(get)).body)).toBe('{}');
    await wary.close();
    raw.close();
    expect(accepted).toBe(2);
  });
});

describe('connection kinds', () => {
  test('keep the Lease and watches working while calls use all their connections', async () => {
    const single = new HttpTransport({ endpoint: fixedEndpoint(server.url), callConnections: 1 });
    server.next(saysNothing).otherwise(answerJson({}));
    const stuck = single.send(get).catch((error: unknown) => error);
    await expect.poll(() => server.requests.length).toBe(1);
    expect((await single.send({ ...get, connection: 'lease' })).status).toBe(200);
    expect((await single.send({ ...get, connection: 'watch' })).status).toBe(200);
    await single.close();
    expect(await stuck).toBeInstanceOf(Error);
  });

  test('allow any number of open watches', async () => {
    server.otherwise(streams({ open: true }));
    const watches = await Promise.all(
      Array.from({ length: 20 }, () => transport.send({ ...get, connection: 'watch' })),
    );
    expect(watches.map((watch) => watch.status)).toEqual(Array(20).fill(200));
    expect(server.connections).toBe(20);
  });
});

describe('credentials', () => {
  class ChangingEndpoint implements Endpoint {
    readonly server = server.url;
    readonly rejections: Credentials[] = [];
    current: Credentials = { tls: {}, tlsKey: 'old', headers: { authorization: 'Bearer old' } };
    credentials(): Promise<Credentials> {
      return Promise.resolve(this.current);
    }
    rejected(credentials: Credentials): void {
      this.rejections.push(credentials);
    }
  }

  test('are sent with every request, and a 401 is reported to the endpoint', async () => {
    const endpoint = new ChangingEndpoint();
    const authenticated = new HttpTransport({ endpoint });
    server.otherwise(answerStatus(401, 'Unauthorized', 'expired'));
    const response = await authenticated.send(get);
    await readText(response.body);
    await authenticated.close();
    expect(response.status).toBe(401);
    expect(server.requests[0]!.headers.authorization).toBe('Bearer old');
    expect(endpoint.rejections).toEqual([endpoint.current]);
  });

  test('with new certificates open new connections, while exchanges on the old ones finish', async () => {
    const endpoint = new ChangingEndpoint();
    const authenticated = new HttpTransport({ endpoint });
    const finish = deferred<() => void>();
    server.next((response) => {
      response.writeHead(200).write('begun ');
      finish.resolve(() => response.end('ended'));
    });
    const old = authenticated.send(get);
    const end = await finish.promise;
    endpoint.current = { tls: {}, tlsKey: 'new', headers: { authorization: 'Bearer new' } };
    server.otherwise(answerJson({}));
    await readText((await authenticated.send(get)).body);
    expect(server.requests[1]!.headers.authorization).toBe('Bearer new');
    expect(server.requests[1]!.connection).not.toBe(server.requests[0]!.connection);
    end();
    expect(await readText((await old).body)).toBe('begun ended');
    await authenticated.close();
  });
});

describe('over TLS', () => {
  const fixture = (name: string): Buffer =>
    readFileSync(new URL(`../../../test/fixtures/tls/${name}`, import.meta.url));
  let secure: Server;
  let port: number;

  beforeEach(async () => {
    // As on an API server: it requests a client certificate, and a client without one is anonymous.
    const options = { cert: fixture('server.crt'), key: fixture('server.key'), ca: fixture('ca.crt') };
    secure = createServer({ ...options, requestCert: true, rejectUnauthorized: false }, (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate() as Partial<PeerCertificate>;
      response.end(subject?.CN ?? 'anonymous');
    });
    secure.listen(0, '127.0.0.1');
    await once(secure, 'listening');
    port = (secure.address() as AddressInfo).port;
  });

  afterEach(() => {
    secure.close();
    secure.closeAllConnections();
  });

  async function whoAmI(tls: TlsOptions, host = '127.0.0.1', proxyUrl?: string): Promise<string> {
    const direct = fixedEndpoint(`https://${host}:${port}`, { tls, tlsKey: 'any', headers: {} });
    const endpoint = proxyUrl === undefined ? direct : { ...direct, proxyUrl };
    const transport = new HttpTransport({ endpoint });
    try {
      return await new KubeClient({ transport, clock: new VirtualClock() })
        .call({ ...get, method: 'POST' })
        .then(({ text }) => text);
    } finally {
      await transport.close();
    }
  }

  test('verifies the server by its CA, and authenticates the client by its certificate', async () => {
    const ca = fixture('ca.crt');
    expect(await whoAmI({ ca })).toBe('anonymous');
    expect(await whoAmI({ ca, cert: fixture('client.crt'), key: fixture('client.key') })).toBe('tester');
  });

  test.each([
    ['no authority', {}],
    ['another authority', { ca: fixture('other-ca.crt') }],
    ['another server name', { ca: fixture('ca.crt'), servername: 'elsewhere' }],
  ])('with %s sends nothing and fails unambiguously', async (_, tls) => {
    const error: unknown = await whoAmI(tls).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(isAmbiguous(error)).toBe(false);
  });

  /** Returns the message of the failure, with server options instead of those above. */
  async function failureWith(options: ServerOptions, tls: TlsOptions = { ca: fixture('ca.crt') }): Promise<string> {
    secure.close();
    secure = createServer({ cert: fixture('server.crt'), key: fixture('server.key'), ...options });
    secure.listen(port, '127.0.0.1');
    await once(secure, 'listening');
    const error: unknown = await whoAmI(tls).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnreachableError);
    return (error as Error).message;
  }

  test('explains TLS alerts in plain words', async () => {
    const strict = { ca: fixture('ca.crt'), requestCert: true, rejectUnauthorized: true };
    const answer = 'POST /api got no response: ';
    expect(await failureWith({ ...strict, maxVersion: 'TLSv1.3' })).toBe(
      `${answer}the server requires a client certificate: set client-certificate and client-key of the user in the kubeconfig (TLS alert 116)`,
    );
    expect(await failureWith({ ...strict, maxVersion: 'TLSv1.2' })).toBe(
      `${answer}client and server have no TLS settings in common, or the server requires a client certificate (TLS alert 40)`,
    );
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    expect(await failureWith(old)).toBe(
      `${answer}the server does not support the TLS versions of this client (1.2 and 1.3) (TLS alert 70)`,
    );
  });

  test('says which CA to correct if the certificate of the server is not trusted', async () => {
    expect(await failureWith({}, { ca: fixture('other-ca.crt') })).toContain(
      'the certificate of the server is signed by an unknown CA: set or correct certificate-authority of the cluster in the kubeconfig',
    );
  });

  test('says what to do if the certificate of the server has expired or is for another name', async () => {
    const expired = { cert: fixture('expired.crt'), key: fixture('expired.key') };
    expect(await failureWith(expired, { ca: fixture('expired.crt') })).toBe(
      'POST /api got no response: the certificate of the server or of its CA has expired: renew it, or correct the clock of this machine',
    );
    expect(await failureWith({}, { ca: fixture('ca.crt'), servername: 'elsewhere' })).toBe(
      'POST /api got no response: the certificate of the server is not for elsewhere (but for DNS:kubernetes, IP Address:127.0.0.1): ' +
        'correct the server URL or tls-server-name in the kubeconfig',
    );
  });

  test('says so if the server does not speak TLS', async () => {
    secure.close();
    const plain = createProxy().listen(port, '127.0.0.1');
    await once(plain, 'listening');
    await expect(whoAmI({})).rejects.toThrow('the server does not speak TLS on this port: correct the server URL');
    plain.close();
    plain.closeAllConnections();
  });

  test.each([
    ['a certificate that is none', { cert: 'CERT', key: 'KEY' }],
    ['a certificate without its key', { cert: 'client.crt', key: 'server.key' }],
  ])('with %s sends nothing and names the fields', async (_, { cert, key }) => {
    const content = (text: string): string | Buffer => (text.includes('.') ? fixture(text) : text);
    const error: unknown = await whoAmI({ cert: content(cert), key: content(key) }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnreachableError);
    expect((error as Error).message).toContain(
      'the client certificate or key of the user in the kubeconfig cannot be used',
    );
  });

  test('tunnels through a proxy', async () => {
    const tunnelled: string[] = [];
    const proxy = createProxy().on('connect', (request: IncomingMessage, socket: Duplex) => {
      tunnelled.push(request.url ?? '');
      const onward = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        socket.pipe(onward).pipe(socket);
      });
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const tls = { ca: fixture('ca.crt'), cert: fixture('client.crt'), key: fixture('client.key') };
    expect(await whoAmI(tls, '127.0.0.1', proxyUrl)).toBe('tester');
    expect(tunnelled).toEqual([`127.0.0.1:${port}`]);
    proxy.close();
  });

  test('sends the proxy login, and reports the status of a proxy that rejects the tunnel', async () => {
    let login: string | undefined;
    const proxy = createProxy().on('connect', (request: IncomingMessage, socket: Duplex) => {
      login = request.headers['proxy-authorization'];
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const address = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const error: unknown = await whoAmI({ ca: fixture('ca.crt') }, '127.0.0.1', `http://me:p%40ss@${address}`).catch(
      (thrown: unknown) => thrown,
    );
    proxy.close();
    expect(error).toBeInstanceOf(ConnectionError);
    expect(isAmbiguous(error)).toBe(false);
    expect((error as Error).message).toContain(`the proxy ${address} responded to CONNECT 127.0.0.1:${port} with 407`);
    expect(login).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`);
  });

  test('a slow reader blocks the server, and then gets everything', async () => {
    const size = 24 * 1_048_576;
    const begun = deferred<ServerResponse>();
    secure.removeAllListeners('request');
    secure.on('request', (_request: IncomingMessage, response: ServerResponse) => {
      response.end(Buffer.alloc(size));
      begun.resolve(response);
    });
    const credentials = { tls: { ca: fixture('ca.crt') }, tlsKey: 'any', headers: {} };
    const slow = new HttpTransport({ endpoint: fixedEndpoint(`https://127.0.0.1:${port}`, credentials) });
    const { body } = await slow.send({ ...get, connection: 'watch' });
    const response = await begun.promise;
    // A transport that keeps reading is done after some 20 of these.
    for (let turn = 0; turn < 1_000; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(response.writableFinished).toBe(false);
    let bytes = 0;
    for await (const chunk of body) bytes += chunk.length;
    expect(bytes).toBe(size);
    await slow.close();
  });

  test('applies tls-server-name and insecure-skip-tls-verify', async () => {
    expect(await whoAmI({ ca: fixture('ca.crt'), servername: 'kubernetes' }, 'localhost')).toBe('anonymous');
    expect(await whoAmI({ rejectUnauthorized: false })).toBe('anonymous');
  });
});

test('the deadline of a call also limits a credential plugin that hangs', async () => {
  const endpoint: Endpoint = { ...fixedEndpoint(server.url), credentials: () => new Promise(() => undefined) };
  const clock = new VirtualClock();
  const locked = new KubeClient({ transport: new HttpTransport({ endpoint }), clock, timeoutMs: 1_000 });
  const call = locked.get('/p').catch((thrown: unknown) => thrown);
  await expect.poll(() => clock.untilNextTimer()).toBe(1_000);
  clock.advance(1_000);
  expect(await call).toMatchObject({ name: 'TimeoutError' });
});

test('without credentials, a call sends nothing and fails unambiguously', async () => {
  const endpoint: Endpoint = {
    ...fixedEndpoint(server.url),
    credentials: () => Promise.reject(new KubeconfigError('log in first')),
  };
  const locked = new KubeClient({ transport: new HttpTransport({ endpoint }), clock: new VirtualClock() });
  const error: unknown = await locked.create('/p', {}).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'UnreachableError', ambiguous: false, message: 'log in first' });
  expect((error as Error).cause).toBeInstanceOf(KubeconfigError);
  expect(server.requests).toHaveLength(0);
});

test('sends nothing after close', async () => {
  await transport.close();
  await expect(transport.send(get)).rejects.toThrow('the transport is closed');
  expect(server.requests).toHaveLength(0);
});
