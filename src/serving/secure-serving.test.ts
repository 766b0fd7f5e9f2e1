import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { ForbiddenError, NotFoundError } from '../client/api-errors.ts';
import type { Logger } from '../observability/logger.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import { makeSelfSignedCertificate } from './certificates/self-signed-certificate.ts';
import type { Route } from './route.ts';
import { SecureServing } from './secure-serving.ts';
import { defaultSecureServing } from './secure-serving-options.ts';
import type { SecureServingOptions } from './secure-serving-options.ts';
import type { Serving } from './start-local-serving.ts';
import { httpsGet } from './testing/https-get.ts';

const fixtures = 'test/fixtures/tls';
const routes: readonly Route[] = [
  { path: '/livez', answer: () => ({ status: 200, text: 'ok' }) },
  { path: '/metrics', answer: () => ({ status: 200, text: 'a 1\n' }) },
];

let folder: string;
let clock: VirtualClock;
let logged: string[];
let logger: Logger;
/** Returns the ConfigMap, or throws. */
let configMap: () => unknown;
const running: (Serving | SecureServing)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-serving-'));
  clock = new VirtualClock(Date.now());
  logged = [];
  const keep = (message: string): void => void logged.push(message);
  logger = { ...silentLogger, info: keep, warn: keep, error: keep };
  const details = { status: 404, reason: 'NotFound', request: 'GET', causes: [] };
  configMap = () => {
    throw new NotFoundError('none', details);
  };
});

afterEach(async () => {
  for (const serving of running.splice(0)) await ('close' in serving ? serving.close() : serving.stop());
  await rm(folder, { recursive: true });
});

async function prepare(given: Partial<SecureServingOptions> = {}): Promise<SecureServing> {
  const api = {
    create: <T>(path: string): Promise<T> =>
      Promise.resolve({ status: path.endsWith('tokenreviews') ? { authenticated: false } : { allowed: false } } as T),
    get: async <T>(): Promise<T> => (await Promise.resolve(configMap())) as T,
  };
  const options = { ...defaultSecureServing, bindAddress: '127.0.0.1', securePort: 0, ...given };
  const parts = { authentication: api, authorization: api, name: 'tutti-test', clock, logger };
  const serving = await SecureServing.prepare(options, parts);
  running.push(serving);
  return serving;
}

async function serve(given?: Partial<SecureServingOptions>, shown: readonly Route[] = routes): Promise<Serving> {
  const serving = await (await prepare(given)).start(shown);
  running.push(serving);
  return serving;
}

const portOf = ({ url }: Serving): number => Number(new URL(url).port);

/** Resolves with everything that the server sent when it closes the connection. */
function receivedUntilClosed(socket: Socket): Promise<string> {
  let received = '';
  socket.on('data', (data) => (received += data.toString()));
  socket.on('error', () => undefined);
  return new Promise((resolve) => socket.once('close', () => resolve(received)));
}

it('serves health to anyone, and the rest to users that the API server authorizes', async () => {
  const { url } = await serve();
  expect(await httpsGet(`${url}/livez`)).toMatchObject({ status: 200, text: 'ok' });
  expect(await httpsGet(`${url}/metrics`)).toMatchObject({ status: 403 });
  expect(await httpsGet(`${url}/metrics`, { token: 'wrong' })).toMatchObject({ status: 401 });
  expect(await httpsGet(`${url}/nothing`)).toMatchObject({ status: 404 });
  expect(await httpsGet(`${url}/livez`, { method: 'POST' })).toMatchObject({ status: 405 });
});

describe('TLS', () => {
  it('uses the configured minimum version and cipher suites', async () => {
    const modern = await serve({ tlsMinVersion: 'VersionTLS13' });
    await expect(httpsGet(`${modern.url}/livez`, { maxVersion: 'TLSv1.2' })).rejects.toThrow();
    expect((await httpsGet(`${modern.url}/livez`)).status).toBe(200);
    const chosen = await serve({ tlsCipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384'] });
    const cipherOf = async (ciphers?: string): Promise<string> => {
      const options = { port: portOf(chosen), rejectUnauthorized: false, maxVersion: 'TLSv1.2', ciphers } as const;
      const socket = connectTls(options);
      await once(socket, 'secureConnect');
      const { name } = socket.getCipher();
      socket.destroy();
      return name;
    };
    expect(await cipherOf()).toBe('ECDHE-ECDSA-AES256-GCM-SHA384');
    await expect(cipherOf('ECDHE-ECDSA-AES128-GCM-SHA256')).rejects.toThrow();
    expect((await httpsGet(`${chosen.url}/livez`, { minVersion: 'TLSv1.3' })).status).toBe(200);
  });

  it('resumes no session, so that it verifies a certificate each time', async () => {
    const serving = await serve();
    const options = { port: portOf(serving), rejectUnauthorized: false } as const;
    const first = connectTls(options);
    await once(first, 'secureConnect');
    first.end('GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await receivedUntilClosed(first);
    const session = first.getSession();
    const second = connectTls({ ...options, ...(session !== undefined && { session }) });
    await once(second, 'secureConnect');
    expect(second.isSessionReused()).toBe(false);
    second.destroy();
  });

  // The second client starts a handshake, for which it has ten seconds.
  it('rejects clients that do not speak it, without an effect on others', async () => {
    const serving = await serve();
    for (const text of ['GET /livez HTTP/1.1\r\n\r\n', '\x16\x03\x01\x40\x00\x01garbage', 'x'.repeat(100_000)]) {
      const socket = connectTcp(portOf(serving), '127.0.0.1', () => socket.write(text));
      await receivedUntilClosed(socket);
    }
    expect((await httpsGet(`${serving.url}/livez`)).status).toBe(200);
  });
});

describe('a client certificate', () => {
  const load = async (name: string): Promise<{ cert: string; key: string }> => ({
    cert: await readFile(join(fixtures, `${name}.crt`), 'utf8'),
    key: await readFile(join(fixtures, `${name}.key`), 'utf8'),
  });

  it('identifies the user if a CA of --client-ca-file signed it, and is rejected otherwise', async () => {
    const { url } = await serve({ clientCaFile: join(fixtures, 'ca.crt') });
    expect(await httpsGet(`${url}/metrics`, await load('client'))).toMatchObject({ status: 200 }); // system:masters
    expect(await httpsGet(`${url}/metrics`, await load('server'))).toMatchObject({ status: 401 }); // a server certificate
    const foreign = await makeSelfSignedCertificate(['eve'], Date.now(), 1);
    const eve = { cert: foreign.certificates, key: foreign.key };
    expect(await httpsGet(`${url}/metrics`, eve)).toMatchObject({ status: 401 });
    expect(await httpsGet(`${url}/livez`, eve)).toMatchObject({ status: 200 });
  });

  it('is verified against the CA of the ConfigMap, once it is readable and until it changes', async () => {
    const named = async (name: string): Promise<unknown> => ({
      data: { 'client-ca-file': await readFile(join(fixtures, name), 'utf8') },
    });
    const [good, other] = [await named('ca.crt'), await named('other-ca.crt')];
    const { url } = await serve();
    const client = await load('client');
    const statusOf = async (): Promise<number> => (await httpsGet(`${url}/metrics`, client)).status;
    expect(await statusOf()).toBe(403); // without a CA the client is anonymous
    configMap = () => good;
    clock.advance(60_000);
    await expect.poll(statusOf).toBe(200);
    configMap = () => other;
    clock.advance(60_000);
    await expect.poll(statusOf).toBe(401);
  });

  it('needs no CA lookup if that is disabled, and a failed lookup can be made an error', async () => {
    configMap = () => {
      throw new ForbiddenError('User "x" cannot get configmaps', {
        status: 403,
        reason: 'Forbidden',
        request: 'GET',
        causes: [],
      });
    };
    await expect(prepare({ authenticationTolerateLookupFailure: false })).rejects.toMatchObject({
      name: 'AuthenticationLookupError',
      message: expect.stringMatching(/cannot get configmaps.*--client-ca-file.*--authentication-skip-lookup/) as string,
    });
    logged = [];
    await prepare({ authenticationTolerateLookupFailure: false, authenticationSkipLookup: true });
    expect(logged).toEqual([]);
    await prepare();
    await expect.poll(() => logged).toEqual(['cannot read certificates; keeping the previous ones']);
  });

  it.each([
    ['/no/file', /^--client-ca-file \/no\/file cannot be read/],
    [join(fixtures, 'client.key'), /^--client-ca-file .*client\.key contains no certificate/],
  ])('cannot be verified with %s', async (clientCaFile, message) => {
    await expect(prepare({ clientCaFile })).rejects.toThrow(message);
  });
});

it('uses changed certificate files for new connections', async () => {
  const [tlsCertFile, tlsPrivateKeyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  const write = async (): Promise<void> => {
    const { certificates, key } = await makeSelfSignedCertificate(['localhost'], Date.now(), 1);
    await writeFile(tlsPrivateKeyFile, key);
    await writeFile(tlsCertFile, certificates);
  };
  await write();
  const { url } = await serve({ tlsCertFile, tlsPrivateKeyFile });
  const first = (await httpsGet(`${url}/livez`)).serialNumber;
  await writeFile(tlsCertFile, 'broken');
  clock.advance(10_000);
  await expect.poll(() => logged).toContain('cannot read certificates; keeping the previous ones');
  expect((await httpsGet(`${url}/livez`)).serialNumber).toBe(first);
  await write();
  await expect
    .poll(async () => {
      clock.advance(10_000);
      return (await httpsGet(`${url}/livez`)).serialNumber;
    })
    .not.toBe(first);
});

it('limits the connections of one address, and closes the longest idle ones for new ones', async () => {
  const serving = await serve();
  const sockets = Array.from({ length: 200 }, () => connectTcp(portOf(serving), '127.0.0.1'));
  let closed = 0;
  for (const socket of sockets) socket.on('error', () => undefined).once('close', () => closed++);
  await expect.poll(() => closed).toBe(200 - 64);
  expect(await httpsGet(`${serving.url}/livez`)).toMatchObject({ status: 200 });
  for (const socket of sockets) socket.destroy();
});

it('announces that it closes idle connections soon', async () => {
  const { url } = await serve();
  const { headers } = await httpsGet(`${url}/livez`, { headers: { connection: 'keep-alive' } });
  expect(headers['keep-alive']).toMatch(/^timeout=5\b/);
});

it('responds to a probe while five other addresses hold all connections that they can get', async () => {
  const serving = await serve();
  const held: Socket[] = [];
  for (const host of ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6']) {
    const from = { host: '127.0.0.1', port: portOf(serving), localAddress: host };
    for (let index = 0; index < 64; index++) {
      const socket: Socket = index % 2 === 0 ? connectTcp(from) : connectTls({ ...from, rejectUnauthorized: false });
      held.push(socket.on('error', () => undefined));
      socket.on('data', () => undefined);
      await once(socket, 'connect');
      if (index % 2 === 1) socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
    }
  }
  const probes = await Promise.all(Array.from({ length: 8 }, () => httpsGet(`${serving.url}/livez`)));
  expect(probes.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  for (const socket of held) socket.destroy();
});

it('ends each connection with its next response during shutdown, and accepts no more', async () => {
  let finish: (() => void) | undefined;
  const slow: Route = {
    path: '/livez',
    answer: () => new Promise((resolve) => (finish = () => resolve({ status: 200, text: 'done' }))),
  };
  const serving = await serve({}, [slow]);
  const pending = httpsGet(`${serving.url}/livez`);
  await expect.poll(() => finish).toBeDefined();
  serving.drain();
  const closing = serving.close();
  finish!();
  expect(await pending).toMatchObject({ status: 200, text: 'done', headers: { connection: 'close' } });
  await closing;
  await expect(httpsGet(`${serving.url}/livez`)).rejects.toThrow();
});

it('names the port and the flag if the port is in use', async () => {
  const port = portOf(await serve());
  await expect(serve({ securePort: port })).rejects.toMatchObject({
    name: 'PortUnavailableError',
    message: expect.stringContaining(
      `port ${port}: the port is in use. Choose another port with --secure-port`,
    ) as string,
  });
});
