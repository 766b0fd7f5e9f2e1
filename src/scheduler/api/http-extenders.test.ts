import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/system-clock.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { WithdrawnError } from '../../client/api-errors.ts';
import { WriteFence } from '../../client/write-fence.ts';
import type { ExtenderConfiguration, ExtenderTlsConfiguration } from '../../config/scheduler-configuration.ts';
import type { ExtenderFilterResult } from '../../framework/extender.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import { openHttpExtenders } from './http-extenders.ts';
import type { HttpExtenders } from './http-extenders.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../../../test/fixtures/tls/${name}`, import.meta.url));
const content = (name: string): Promise<Buffer> => readFile(fixture(name));
const base64 = async (name: string): Promise<string> => (await content(name)).toString('base64');

const build = new Builders();
const nodes = ['a', 'b'].map((name) => build.projectedNode({ name }));
const never = new AbortController().signal;
const client = {
  get: () => Promise.reject(new Error('not expected')),
  patch: () => Promise.reject(new Error('not expected')),
};

let server: Server | undefined;
const sockets = new Set<Socket>();
let opened: HttpExtenders | undefined;

afterEach(async () => {
  await opened?.close();
  for (const socket of sockets) socket.destroy();
  if (server !== undefined) await new Promise((resolve) => server!.close(resolve));
  opened = server = undefined;
});

/** Starts the server and returns its port. */
async function serve(made: Server): Promise<number> {
  server = made;
  made.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  made.listen(0, '127.0.0.1');
  await once(made, 'listening');
  return (made.address() as AddressInfo).port;
}

const plainly = (listener: RequestListener): Promise<number> => serve(createHttpServer(listener));

/** A server with a certificate for the name `kubernetes` and the address 127.0.0.1. Its response contains the CN of the client. */
async function securely(certificate = 'server', clientCa = 'ca.crt'): Promise<number> {
  const [cert, key, ca] = await Promise.all([
    content(`${certificate}.crt`),
    content(`${certificate}.key`),
    content(clientCa),
  ]);
  return serve(
    createServer({ cert, key, ca, requestCert: true, rejectUnauthorized: false }, (request, response) => {
      const socket = request.socket as TLSSocket;
      const { CN = 'anonymous' } = (socket.getPeerCertificate().subject ?? {}) as { readonly CN?: string };
      if (CN === 'anonymous' || socket.authorized)
        response.end(JSON.stringify({ NodeNames: ['a'], FailedNodes: { b: CN } }));
      else response.writeHead(403).end('unknown client');
    }),
  );
}

function filter(
  urlPrefix: string,
  tls?: Partial<ExtenderTlsConfiguration>,
  fields: Partial<ExtenderConfiguration> = {},
): Promise<ExtenderFilterResult> {
  return call(urlPrefix, tls, fields, (extender) => extender.filter!({ json: '{}' }, nodes, never));
}

function configurationOf(urlPrefix: string, fields: Partial<ExtenderConfiguration>): ExtenderConfiguration {
  return {
    urlPrefix,
    filterVerb: 'filter',
    prioritizeVerb: 'rank',
    weight: 1,
    enableHttps: false,
    httpTimeoutMs: 5_000,
    nodeCacheCapable: true,
    managedResources: [],
    ignorable: false,
    ...fields,
  };
}

type FirstExtender = HttpExtenders['port']['extenders'][number];

async function call<T>(
  urlPrefix: string,
  tls: Partial<ExtenderTlsConfiguration> | undefined,
  fields: Partial<ExtenderConfiguration>,
  send: (extender: FirstExtender) => Promise<T>,
): Promise<T> {
  opened = await openHttpExtenders({
    configurations: [
      configurationOf(urlPrefix, { ...(tls !== undefined && { tls: { insecure: false, ...tls } }), ...fields }),
    ],
    client,
    clock: systemClock,
    random: Math.random,
    logger: silentLogger,
  });
  return send(opened!.port.extenders[0]!);
}

/** Returns the client name that the extender saw. */
async function clientName(port: number, tls?: Partial<ExtenderTlsConfiguration>, host = '127.0.0.1'): Promise<string> {
  return (await filter(`https://${host}:${port}`, tls)).failed.get('b')!;
}

describe('an extender over TLS', () => {
  it('is verified with a CA from a file or from base64', async () => {
    const port = await securely();
    expect(await clientName(port, { caFile: fixture('ca.crt') })).toBe('anonymous');
    await opened!.close();
    expect(await clientName(port, { caData: await base64('ca.crt'), caFile: '/not/read' })).toBe('anonymous');
  });

  it('gets a client certificate from files or from base64', async () => {
    const port = await securely();
    const files = { certFile: fixture('client.crt'), keyFile: fixture('client.key') };
    expect(await clientName(port, { caFile: fixture('ca.crt'), ...files })).toBe('tester');
    await opened!.close();
    const data = { certData: await base64('client.crt'), keyData: await base64('client.key') };
    expect(await clientName(port, { caData: await base64('ca.crt'), ...data })).toBe('tester');
  });

  it('may reject the client certificate', async () => {
    const port = await securely('server', 'other-ca.crt');
    const files = { certFile: fixture('client.crt'), keyFile: fixture('client.key') };
    await expect(clientName(port, { caFile: fixture('ca.crt'), ...files })).rejects.toThrow(
      'filter returned status 403: unknown client',
    );
  });

  it('may have another name than its address', async () => {
    const port = await securely();
    const ca = { caFile: fixture('ca.crt') };
    await expect(clientName(port, ca, 'localhost')).rejects.toThrow(
      'the certificate of the server is not for localhost',
    );
    await opened!.close();
    expect(await clientName(port, { ...ca, serverName: 'kubernetes' }, 'localhost')).toBe('anonymous');
    await opened!.close();
    await expect(clientName(port, { ...ca, serverName: 'other' })).rejects.toThrow(
      'the certificate of the server is not for other',
    );
  });

  it.each([
    ['has an unknown CA', 'server', {}, 'the certificate of the server is signed by an unknown CA'],
    [
      'belongs to another CA',
      'server',
      { caFile: fixture('other-ca.crt') },
      'the certificate of the server is signed by an unknown CA',
    ],
    [
      'has expired',
      'expired',
      { caFile: fixture('expired.crt') },
      'the certificate of the server or of its CA has expired',
    ],
  ])('is rejected if its certificate %s', async (_, certificate, tls, message) => {
    await expect(clientName(await securely(certificate), tls)).rejects.toThrow(message);
  });

  it('is not verified with insecure: true', async () => {
    expect(await clientName(await securely('expired'), { insecure: true }, 'localhost')).toBe('anonymous');
  });

  it.each<[string, Partial<ExtenderTlsConfiguration>, string | RegExp]>([
    ['a missing file', { caFile: '/not/there' }, /caFile must be a readable file: ENOENT/],
    ['an invalid CA', { caData: Buffer.from('me').toString('base64') }, /caData must contain PEM certificates: /],
    ['a key instead of a CA', { caFile: fixture('client.key') }, /caFile must contain PEM certificates: /],
    [
      'a certificate instead of a key',
      { certFile: fixture('client.crt'), keyFile: fixture('client.crt') },
      /keyFile must contain a PEM private key without a passphrase: /,
    ],
    [
      'the key of another certificate',
      { certFile: fixture('client.crt'), keyFile: fixture('server.key') },
      /keyFile must match the certificate in certFile: /,
    ],
    [
      'a certificate without its key',
      { certFile: fixture('client.crt') },
      'tlsConfig must have both a client certificate and its key',
    ],
    [
      'a CA that would not be used',
      { insecure: true, caFile: fixture('ca.crt') },
      'tlsConfig must set insecure to false with caFile or caData, which verify the server',
    ],
  ])('is not opened with %s', async (_, tls, message) => {
    const beginning = filter('https://127.0.0.1:1', tls);
    await expect(beginning).rejects.toThrow(message);
    await expect(beginning).rejects.toMatchObject({ name: 'ExtenderConfigurationError' });
    await expect(beginning).rejects.toThrow('extenders[0].tlsConfig');
  });
});

describe('the response of an extender', () => {
  const responding =
    (status: number, headers: Record<string, string>, body: string | Buffer): RequestListener =>
    (_request: IncomingMessage, response: ServerResponse) =>
      void response.writeHead(status, headers).end(body);

  it.each<[string, RequestListener, string]>([
    [
      'a redirect',
      responding(308, { location: 'https://there/filter' }, ''),
      'filter returned status 308, a redirect to https://there/filter: set urlPrefix to the final address',
    ],
    [
      'an unrequested content encoding',
      responding(200, { 'content-encoding': 'gzip' }, gzipSync('{}')),
      'filter returned content encoding gzip, which was not requested',
    ],
    ['an empty body', responding(200, {}, ''), 'filter returned invalid JSON: '],
    ['truncated JSON', responding(200, {}, '{"NodeNames":["a"'), 'invalid JSON: {"NodeNames":["a"'],
    ['no content', responding(204, {}, ''), 'filter returned status 204: '],
    ['text that is not UTF-8', responding(200, {}, Buffer.from([0xff, 0xfe])), 'invalid JSON'],
  ])('is rejected: %s', async (_, listener, message) => {
    await expect(filter(`http://127.0.0.1:${await plainly(listener)}`)).rejects.toThrow(message);
  });

  it('is limited in size', async () => {
    let written = 0;
    let calls = 0;
    const chunk = Buffer.alloc(1 << 20, 32);
    const port = await plainly((_request, response) => {
      calls++;
      const more = (): void => {
        while (!response.destroyed && response.write(chunk)) written += chunk.length;
      };
      response.on('drain', more);
      more();
    });
    await expect(filter(`http://127.0.0.1:${port}`, undefined, { httpTimeoutMs: 60_000 })).rejects.toThrow(
      'filter returned more than 128 MiB',
    );
    expect(written).toBeLessThan(300 << 20);
    expect(calls).toBe(1);
  });

  it.each([
    ['an invalid status line', 'HELLO\r\n\r\n'],
    ['an invalid chunk length', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n'],
    ['less than its content-length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}'],
  ])('is requested twice, then rejected: %s', async (_, bytes) => {
    let calls = 0;
    const port = await plainly((request) => {
      calls++;
      request.socket.end(bytes);
    });
    await expect(filter(`http://127.0.0.1:${port}`)).rejects.toThrow();
    expect(calls).toBe(2);
    await opened!.close();
    await expect.poll(() => sockets.size).toBe(0);
  });

  it('is accepted from the second request, as after a restart', async () => {
    let calls = 0;
    const port = await plainly((request, response) => {
      if (++calls === 1) request.socket.destroy();
      else response.end('{"NodeNames":["b"]}');
    });
    expect([...(await filter(`http://127.0.0.1:${port}`)).passed]).toEqual(['b']);
  });

  it('leaves no connection behind after close()', async () => {
    const port = await plainly((_request, response) => void response.end('{"NodeNames":[]}'));
    await filter(`http://127.0.0.1:${port}`);
    expect(sockets.size).toBe(1);
    await opened!.close();
    await expect.poll(() => sockets.size).toBe(0);
  });

  it('is not awaited by close()', async () => {
    const port = await plainly(() => undefined);
    const pending = filter(`http://127.0.0.1:${port}`);
    const failed = expect(pending).rejects.toThrow('closed');
    await expect.poll(() => sockets.size).toBe(1);
    await opened!.close();
    await failed;
    await expect.poll(() => sockets.size).toBe(0);
  });

  it('may contain any scores, which are added up per node', async () => {
    const scores = [
      { Host: 'a', Score: -5 },
      { Host: 'a', Score: 2 },
      { Host: 'elsewhere', Score: 1 },
    ];
    const port = await plainly((_request, response) => void response.end(JSON.stringify(scores)));
    const rank = (extender: FirstExtender): Promise<ReadonlyMap<string, number>> =>
      extender.prioritize!({ json: '{}' }, nodes, never);
    expect([...(await call(`http://127.0.0.1:${port}`, undefined, {}, rank))]).toEqual([
      ['a', -3],
      ['elsewhere', 1],
    ]);
  });
});

describe('a bind by an extender', () => {
  const pod = { namespace: 'team', name: 'x', uid: 'u', nodeName: 'a', annotations: {} };
  const clock = new VirtualClock();
  let fence: WriteFence;
  let requests: number;
  /** Number of reads of the pod from the API server. */
  let reads: number;
  let respond: (response: ServerResponse) => void;

  beforeEach(async () => {
    fence = new WriteFence(clock);
    requests = 0;
    reads = 0;
    const onNode = { metadata: { uid: 'u' }, spec: { nodeName: 'a' } };
    respond = (response) => void response.end('{}');
    const port = await plainly((_request, response) => {
      requests++;
      respond(response);
    });
    opened = await openHttpExtenders({
      configurations: [configurationOf(`http://127.0.0.1:${port}`, { bindVerb: 'bind' })],
      client: { ...client, get: <T>() => Promise.resolve((reads++, onNode) as T) },
      clock: systemClock,
      random: Math.random,
      logger: silentLogger,
      fence,
    });
  });

  const bind = (signal = never): Promise<void> => opened!.port.extenders[0]!.bind!(pod, signal);

  it('is not sent by a process that is not the leader', async () => {
    await bind().catch(() => undefined);
    expect(requests).toBe(0);
    fence.openUntil(clock.monotonic() + 1_000);
    await bind();
    expect(requests).toBe(1);
    expect(fence.hasBindInDoubt(1_000)).toBe(false);
  });

  it('is not sent if the process loses the lead while it waits for its turn', async () => {
    fence.openUntil(clock.monotonic() + 1_000);
    respond = () => undefined;
    const binds = Array.from({ length: 12 }, () => bind().catch(() => undefined));
    await expect.poll(() => requests).toBe(8);
    fence.end('another process leads');
    await Promise.all(binds);
    expect(requests).toBe(8);
    expect(fence.hasBindInDoubt(1_000)).toBe(true);
  });

  it('is not sent or read back if it is withdrawn before its turn', async () => {
    fence.openUntil(clock.monotonic() + 1_000);
    const answers: ServerResponse[] = [];
    respond = (response) => void answers.push(response);
    const others = Array.from({ length: 8 }, () => bind());
    await expect.poll(() => requests).toBe(8);
    const mayBeSent = (): void => {
      throw new WithdrawnError('its group is gone');
    };
    const late = opened!.port.extenders[0]!.bind!({ ...pod, mayBeSent }, never);
    for (const response of answers) response.end('{}');
    await expect(late).rejects.toThrow(WithdrawnError);
    await Promise.all(others);
    expect(requests).toBe(8);
    expect(reads).toBe(8);
  });

  it('is in doubt if it was aborted, but not if it was rejected', async () => {
    fence.openUntil(clock.monotonic() + 1_000);
    respond = (response) => void response.writeHead(500).end('no');
    await bind();
    expect(fence.hasBindInDoubt(1_000)).toBe(false);
    respond = () => undefined;
    const stop = new AbortController();
    const bound = bind(stop.signal);
    await expect.poll(() => requests).toBe(2);
    stop.abort(new Error('stopping'));
    await expect(bound).rejects.toThrow('stopping');
    expect(fence.hasBindInDoubt(1_000)).toBe(true);
  });
});
