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
  get: () => Promise.reject(new Error('not asked')),
  patch: () => Promise.reject(new Error('not asked')),
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

/** The port of a server that answers so. */
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

/** A server with a certificate for the name `kubernetes` and the address 127.0.0.1; names who the client is. */
async function securely(certificate = 'server', clientCa = 'ca.crt'): Promise<number> {
  const [cert, key, ca] = await Promise.all([
    content(`${certificate}.crt`),
    content(`${certificate}.key`),
    content(clientCa),
  ]);
  return serve(
    createServer({ cert, key, ca, requestCert: true, rejectUnauthorized: false }, (request, response) => {
      const socket = request.socket as TLSSocket;
      const { CN = 'nobody' } = (socket.getPeerCertificate().subject ?? {}) as { readonly CN?: string };
      if (CN === 'nobody' || socket.authorized)
        response.end(JSON.stringify({ NodeNames: ['a'], FailedNodes: { b: CN } }));
      else response.writeHead(403).end('who are you?');
    }),
  );
}

function filter(
  urlPrefix: string,
  tls?: Partial<ExtenderTlsConfiguration>,
  fields: Partial<ExtenderConfiguration> = {},
): Promise<ExtenderFilterResult> {
  return ask(urlPrefix, tls, fields, (extender) => extender.filter!({ json: '{}' }, nodes, never));
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

async function ask<T>(
  urlPrefix: string,
  tls: Partial<ExtenderTlsConfiguration> | undefined,
  fields: Partial<ExtenderConfiguration>,
  question: (extender: FirstExtender) => Promise<T>,
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
  return question(opened!.port.extenders[0]!);
}

/** Who the extender took us for. */
async function takenFor(port: number, tls?: Partial<ExtenderTlsConfiguration>, host = '127.0.0.1'): Promise<string> {
  return (await filter(`https://${host}:${port}`, tls)).failed.get('b')!;
}

describe('an extender over TLS', () => {
  it('is verified by an authority in a file, or in base64', async () => {
    const port = await securely();
    expect(await takenFor(port, { caFile: fixture('ca.crt') })).toBe('nobody');
    await opened!.close();
    expect(await takenFor(port, { caData: await base64('ca.crt'), caFile: '/not/read' })).toBe('nobody');
  });

  it('is shown a certificate, from files or in base64', async () => {
    const port = await securely();
    const files = { certFile: fixture('client.crt'), keyFile: fixture('client.key') };
    expect(await takenFor(port, { caFile: fixture('ca.crt'), ...files })).toBe('tester');
    await opened!.close();
    const data = { certData: await base64('client.crt'), keyData: await base64('client.key') };
    expect(await takenFor(port, { caData: await base64('ca.crt'), ...data })).toBe('tester');
  });

  it('may reject the certificate that it is shown', async () => {
    const port = await securely('server', 'other-ca.crt');
    const files = { certFile: fixture('client.crt'), keyFile: fixture('client.key') };
    await expect(takenFor(port, { caFile: fixture('ca.crt'), ...files })).rejects.toThrow(
      'filter was answered with status 403: who are you?',
    );
  });

  it('may have another name than its address has', async () => {
    const port = await securely();
    const ca = { caFile: fixture('ca.crt') };
    await expect(takenFor(port, ca, 'localhost')).rejects.toThrow(/Hostname\/IP does not match.*localhost/);
    await opened!.close();
    expect(await takenFor(port, { ...ca, serverName: 'kubernetes' }, 'localhost')).toBe('nobody');
    await opened!.close();
    await expect(takenFor(port, { ...ca, serverName: 'other' })).rejects.toThrow(/does not match.*other/);
  });

  it.each([
    ['nobody vouches for', 'server', {}, 'self-signed certificate in certificate chain'],
    [
      'another authority vouches for',
      'server',
      { caFile: fixture('other-ca.crt') },
      'self-signed certificate in certificate chain',
    ],
    ['has expired', 'expired', { caFile: fixture('expired.crt') }, 'certificate has expired'],
  ])('is rejected when its certificate is one that %s', async (_, certificate, tls, message) => {
    await expect(takenFor(await securely(certificate), tls)).rejects.toThrow(message);
  });

  it('is not verified where that is said', async () => {
    expect(await takenFor(await securely('expired'), { insecure: true }, 'localhost')).toBe('nobody');
  });

  it.each<[string, Partial<ExtenderTlsConfiguration>, string | RegExp]>([
    ['a file that is not there', { caFile: '/not/there' }, /caFile must be a file that can be read: ENOENT/],
    [
      'an authority that is none',
      { caData: Buffer.from('me').toString('base64') },
      /caData must be certificates in PEM: /,
    ],
    ['a key for an authority', { caFile: fixture('client.key') }, /caFile must be certificates in PEM: /],
    [
      'a certificate for a key',
      { certFile: fixture('client.crt'), keyFile: fixture('client.crt') },
      /keyFile must be a private key in PEM, without a passphrase: /,
    ],
    [
      "another's key",
      { certFile: fixture('client.crt'), keyFile: fixture('server.key') },
      /keyFile must be the key of the certificate in certFile: /,
    ],
    [
      'a certificate without its key',
      { certFile: fixture('client.crt') },
      'tlsConfig must have both a client certificate and its key',
    ],
    [
      'an authority that is not asked',
      { insecure: true, caFile: fixture('ca.crt') },
      'tlsConfig must set insecure to false with caFile or caData, which verify the server',
    ],
  ])('is not begun with %s', async (_, tls, message) => {
    const beginning = filter('https://127.0.0.1:1', tls);
    await expect(beginning).rejects.toThrow(message);
    await expect(beginning).rejects.toMatchObject({ name: 'ExtenderConfigurationError' });
    await expect(beginning).rejects.toThrow('extenders[0].tlsConfig');
  });
});

describe('what an extender answers', () => {
  const answering =
    (status: number, headers: Record<string, string>, body: string | Buffer): RequestListener =>
    (_request: IncomingMessage, response: ServerResponse) =>
      void response.writeHead(status, headers).end(body);

  it.each<[string, RequestListener, string]>([
    [
      'a redirection',
      answering(308, { location: 'https://there/filter' }, ''),
      'filter was answered with status 308, which leads to https://there/filter: give the address that answers as urlPrefix',
    ],
    [
      'what is packed without being asked for',
      answering(200, { 'content-encoding': 'gzip' }, gzipSync('{}')),
      'filter was answered in the coding gzip, which was not asked for',
    ],
    ['nothing', answering(200, {}, ''), 'filter was answered with something that is not JSON: '],
    ['half a text', answering(200, {}, '{"NodeNames":["a"'), 'is not JSON: {"NodeNames":["a"'],
    ['no content', answering(204, {}, ''), 'filter was answered with status 204: '],
    ['text that is not UTF-8', answering(200, {}, Buffer.from([0xff, 0xfe])), 'is not JSON'],
  ])('is rejected: %s', async (_, listener, message) => {
    await expect(filter(`http://127.0.0.1:${await plainly(listener)}`)).rejects.toThrow(message);
  });

  it('is given up when it has no end', async () => {
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
      'filter was answered with more than 128 MiB',
    );
    expect(written).toBeLessThan(300 << 20);
    expect(calls).toBe(1);
  });

  it.each([
    ['a status line that is none', 'HELLO\r\n\r\n'],
    ['a chunk of no length', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n'],
    ['less than it announced', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}'],
  ])('is asked for twice, and then rejected: %s', async (_, bytes) => {
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

  it('counts when it comes only the second time, as after a restart', async () => {
    let calls = 0;
    const port = await plainly((request, response) => {
      if (++calls === 1) request.socket.destroy();
      else response.end('{"NodeNames":["b"]}');
    });
    expect([...(await filter(`http://127.0.0.1:${port}`)).passed]).toEqual(['b']);
  });

  it('leaves no connection behind, once it is closed', async () => {
    const port = await plainly((_request, response) => void response.end('{"NodeNames":[]}'));
    await filter(`http://127.0.0.1:${port}`);
    expect(sockets.size).toBe(1);
    await opened!.close();
    await expect.poll(() => sockets.size).toBe(0);
  });

  it('that does not come is not waited for when all is closed', async () => {
    const port = await plainly(() => undefined);
    const asked = filter(`http://127.0.0.1:${port}`);
    const failed = expect(asked).rejects.toThrow('closed');
    await expect.poll(() => sockets.size).toBe(1);
    await opened!.close();
    await failed;
    await expect.poll(() => sockets.size).toBe(0);
  });

  it('may score as it likes, within what can be added up', async () => {
    const scores = [
      { Host: 'a', Score: -5 },
      { Host: 'a', Score: 2 },
      { Host: 'elsewhere', Score: 1 },
    ];
    const port = await plainly((_request, response) => void response.end(JSON.stringify(scores)));
    const rank = (extender: FirstExtender): Promise<ReadonlyMap<string, number>> =>
      extender.prioritize!({ json: '{}' }, nodes, never);
    expect([...(await ask(`http://127.0.0.1:${port}`, undefined, {}, rank))]).toEqual([
      ['a', -3],
      ['elsewhere', 1],
    ]);
  });
});

describe('a bind by an extender', () => {
  const pod = { namespace: 'team', name: 'x', uid: 'u', nodeName: 'a', annotations: {} };
  const clock = new VirtualClock();
  let fence: WriteFence;
  let asked: number;
  /** How often the API server was asked for the pod. */
  let reads: number;
  let answer: (response: ServerResponse) => void;

  beforeEach(async () => {
    fence = new WriteFence(clock);
    asked = 0;
    reads = 0;
    const onNode = { metadata: { uid: 'u' }, spec: { nodeName: 'a' } };
    answer = (response) => void response.end('{}');
    const port = await plainly((_request, response) => {
      asked++;
      answer(response);
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

  it('is asked of nobody by a process that does not lead', async () => {
    await bind().catch(() => undefined);
    expect(asked).toBe(0);
    fence.openUntil(clock.monotonic() + 1_000);
    await bind();
    expect(asked).toBe(1);
    expect(fence.hasBindInDoubt(1_000)).toBe(false);
  });

  it('is not sent any more when leading ends while it waits for its turn', async () => {
    fence.openUntil(clock.monotonic() + 1_000);
    answer = () => undefined;
    const binds = Array.from({ length: 12 }, () => bind().catch(() => undefined));
    await expect.poll(() => asked).toBe(8);
    fence.end('somebody else leads');
    await Promise.all(binds);
    expect(asked).toBe(8);
    expect(fence.hasBindInDoubt(1_000)).toBe(true);
  });

  it('is not sent any more when it is not wanted when its turn comes, and is not looked for either', async () => {
    fence.openUntil(clock.monotonic() + 1_000);
    const answers: ServerResponse[] = [];
    answer = (response) => void answers.push(response);
    const others = Array.from({ length: 8 }, () => bind());
    await expect.poll(() => asked).toBe(8);
    const mayBeSent = (): void => {
      throw new WithdrawnError('its group is gone');
    };
    const late = opened!.port.extenders[0]!.bind!({ ...pod, mayBeSent }, never);
    for (const response of answers) response.end('{}');
    await expect(late).rejects.toThrow(WithdrawnError);
    await Promise.all(others);
    expect(asked).toBe(8);
    expect(reads).toBe(8);
  });

  it('that was given up is in doubt; one that was rejected is not', async () => {
    fence.openUntil(clock.monotonic() + 1_000);
    answer = (response) => void response.writeHead(500).end('no');
    await bind();
    expect(fence.hasBindInDoubt(1_000)).toBe(false);
    answer = () => undefined;
    const cut = new AbortController();
    const bound = bind(cut.signal);
    await expect.poll(() => asked).toBe(2);
    cut.abort(new Error('stopping'));
    await expect(bound).rejects.toThrow('stopping');
    expect(fence.hasBindInDoubt(1_000)).toBe(true);
  });
});
