/**
 * Sends generated requests, most of them malformed, to the HTTPS server of a busy scheduler. Then five other loopback addresses hold all the
 * connections that they can get. Reports how long its event loop was blocked, with and without these requests. Fails if the scheduler exits,
 * logs an error, stops responding, or stalls for too long under this load, or if a probe beside the five addresses waits for more than 1 s.
 *
 *     node scripts/fuzz-serving.ts [requests] [seed]
 */
import { Buffer } from 'node:buffer';
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { podGroupDefinition } from '../src/api/pod-group-schema.ts';
import { seededRandom } from '../src/base/random.ts';
import { systemClock } from '../src/base/system-clock.ts';
import { KubeClient } from '../src/client/kube-client.ts';
import { localKubeconfig } from '../src/client/local-kubeconfig.ts';
import { EmbeddedApiServer } from '../src/plane/apiserver/embedded-api-server.ts';
import { InProcessTransport } from '../src/plane/apiserver/in-process-transport.ts';
import { listenHttp } from '../src/plane/apiserver/listen-http.ts';
import { freePorts } from '../test/planes/real/ports.ts';
import { httpsGet } from '../src/serving/testing/https-get.ts';
import type { LoopDelays } from './report-loop-delay.ts';

const requests = Number(process.argv[2] ?? 10_000);
const seed = Number(process.argv[3] ?? 1);
const maxStallMs = 50;
const concurrency = 60;
const nodeCount = 300;
const gangSize = 10;
const baselineMs = 20_000;
const crowdAddresses = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6'];
const crowdConnections = 64;
const crowdMs = 40_000;
const maxProbeMs = 1_000;

const problems: string[] = [];
const random = seededRandom(seed);
const number = (below: number): number => Math.floor(random() * below);
const pick = <T>(items: readonly T[]): T => items[number(items.length)]!;
const bytes = (count: number): Buffer => Buffer.from(Array.from({ length: count }, () => number(256)));
const text = (count: number): string =>
  bytes(count)
    .toString('latin1')
    .replaceAll(/[\r\n]/g, 'x');

const paths = [
  '/livez',
  '/readyz',
  '/healthz',
  '/metrics',
  '/configz',
  '/debug/queue',
  '/debug/cache',
  '/debug/groups',
  '/debug/events',
  '/debug/explain',
  '/debug/snapshot',
];
const queries = [
  '',
  '?verbose',
  '?exclude=ping',
  '?limit=500',
  '?limit=-1',
  '?namespace=default&name=gang-1',
  '?offset=9e9',
];

function target(): string {
  switch (number(8)) {
    case 0:
      return `/${text(number(50)).replaceAll(' ', '')}`;
    case 1:
      return `${pick(paths)}/${pick(['..', '%00', '%zz', '%2e%2e/', '//', 'ping', text(5)])}`;
    case 2:
      return `${pick(paths)}?${text(number(3_000))}`;
    case 3:
      return pick(['*', '', '//', 'http://[::1', 'https://elsewhere/metrics', '/\u0000', '?', '#']);
    case 4:
      return `/${'a/'.repeat(number(10_000))}`;
    default:
      return pick(paths) + pick(queries);
  }
}

function header(): string {
  switch (number(12)) {
    case 0:
      return `Authorization: Bearer ${bytes(number(40)).toString('hex')}`;
    case 1:
      return `Authorization: ${text(number(200))}`;
    case 2:
      return `X: ${'y'.repeat(number(40_000))}`;
    case 3:
      return Array.from({ length: number(3_000) }, (_, index) => `h${index}: 1`).join('\r\n');
    case 4:
      return `${text(10)}: ${text(10)}`;
    case 5:
      return 'Expect: 100-continue';
    case 6:
      return pick(['Connection: Upgrade\r\nUpgrade: h2c', 'Connection: close', 'Connection: keep-alive, upgrade']);
    case 7:
      return `Content-Length: ${pick(['-1', '1e9', '18446744073709551616', '4', '99999999', 'x', '4, 5'])}`;
    case 8:
      return `Transfer-Encoding: ${pick(['chunked', 'gzip, chunked', 'identity', 'chunked\r\nContent-Length: 5'])}`;
    case 9:
      return 'Range: bytes=0-1,2-3\r\nAccept-Encoding: *;q=0';
    case 10:
      return ' folded: header\r\n\tand on';
    default:
      return 'User-Agent: curl/8';
  }
}

function body(): Buffer {
  switch (number(6)) {
    case 0:
      return bytes(number(200));
    case 1:
      return Buffer.alloc(number(3_000_000), 'z');
    case 2:
      return Buffer.from(`${pick(['5', 'fffffffffffffffff', '-1', 'x'])}\r\n${text(5)}\r\n0\r\n\r\n`, 'latin1');
    default:
      return Buffer.alloc(0);
  }
}

function request(): Buffer {
  const method = pick([
    'GET',
    'GET',
    'GET',
    'GET',
    'HEAD',
    'POST',
    'PUT',
    'DELETE',
    'CONNECT',
    'OPTIONS',
    'BREW',
    text(6),
  ]);
  const version = pick(['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/9', '']);
  const headers = Array.from({ length: number(4) }, header);
  if (number(10) > 0) headers.push('Host: localhost');
  return Buffer.concat([
    Buffer.from(`${method} ${target()} ${version}\r\n${headers.join('\r\n')}\r\n\r\n`, 'latin1'),
    body(),
  ]);
}

const plain = (path: string): Buffer => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);

/** Actions on a connection. Each gets an open socket and may leave it open. */
const attacks: Readonly<Record<string, (socket: Socket) => void>> = {
  request: (socket) => socket.write(request()),
  'well-formed': (socket) => socket.write(plain(pick(paths) + pick(queries))),
  'one after the other': (socket) => {
    let left = number(20);
    socket.write(plain(pick(paths)));
    socket.on('data', () => left-- > 0 && socket.write(plain(pick(paths))));
  },
  pipelined: (socket) =>
    socket.write(Buffer.concat(Array.from({ length: 2 + number(2_000) }, () => plain(pick(paths))))),
  'half-closed': (socket) => socket.end(request().subarray(0, number(300))),
  'cut off': (socket) => {
    socket.write(request());
    setTimeout(() => socket.destroy(), number(20));
  },
  'slow headers': (socket) => {
    const head = Buffer.from(`GET /metrics HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(100)}\r\n`);
    let sent = 0;
    const timer = setInterval(
      () => (socket.destroyed ? clearInterval(timer) : socket.write(head.subarray(sent, ++sent))),
      20,
    );
    socket.once('close', () => clearInterval(timer));
  },
  'slow reader': (socket) => {
    socket.pause();
    socket.write(plain('/metrics'));
  },
  'endless body': (socket) => {
    socket.write('GET /livez HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write('1\r\nx\r\n')), 5);
    socket.once('close', () => clearInterval(timer));
  },
  bytes: (socket) => socket.write(bytes(number(5_000))),
};
const inTls = Object.keys(attacks);
const weights = ['request', 'request', 'request', 'request', 'well-formed', 'well-formed', ...inTls];

/** Actions before the TLS handshake. */
const handshakes: readonly ((socket: Socket) => void)[] = [
  (socket) => socket.write(bytes(number(2_000))),
  (socket) => socket.write(plain('/livez')),
  (socket) => socket.write(Buffer.from([0x16, 3, 1, 0x40, 0, 1, ...bytes(number(300))])),
  (socket) => socket.write(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')),
  (socket) => socket.destroy(),
  (socket) => socket.resetAndDestroy(),
  () => undefined, // send nothing
];

/** Makes one connection. Resolves to the action and the response status when the server closes the connection, or after a timeout. */
function attack(port: number): Promise<string> {
  return new Promise((resolve) => {
    const isInTls = number(5) > 0;
    const name = isInTls ? pick(weights) : 'no TLS';
    const options = { host: '127.0.0.1', port, rejectUnauthorized: false };
    const socket: Socket = isInTls ? connectTls(options) : connectTcp(options);
    let status = 'no response';
    socket.once(isInTls ? 'secureConnect' : 'connect', () => (isInTls ? attacks[name]! : pick(handshakes))(socket));
    socket.once('data', (data: Buffer) => (status = /^HTTP\/1\.1 (\d+)/.exec(data.toString('latin1'))?.[1] ?? 'other'));
    socket.once('data', () => setTimeout(() => socket.destroy(), number(100)));
    socket.on('data', () => undefined);
    socket.on('error', () => undefined);
    const timeoutMs = ['slow headers', 'slow reader', 'endless body', 'no TLS'].includes(name) ? 500 : 3_000;
    const timer = setTimeout(() => socket.destroy(), timeoutMs);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(`${name}: ${status}`);
    });
  });
}

/** How a connection of the five addresses keeps its slot. */
const occupations: Readonly<Record<string, (socket: Socket) => void>> = {
  'no TLS': () => undefined,
  'no request': () => undefined,
  idle: (socket) => socket.write(plain('/livez')),
  'request after request': (socket) => {
    socket.write(plain('/livez'));
    socket.on('data', () => socket.write(plain('/livez')));
  },
};

/** Holds a connection from this address until `until` aborts, and opens another one whenever the server closes it. */
async function occupy(port: number, localAddress: string, until: AbortSignal): Promise<void> {
  while (!until.aborted) {
    const name = pick(Object.keys(occupations));
    const options = { host: '127.0.0.1', port, localAddress, rejectUnauthorized: false };
    const socket: Socket = name === 'no TLS' ? connectTcp(options) : connectTls(options);
    const end = (): void => void socket.destroy();
    until.addEventListener('abort', end, { once: true });
    socket.once(name === 'no TLS' ? 'connect' : 'secureConnect', () => occupations[name]!(socket));
    socket.on('data', () => undefined);
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.once('close', resolve));
    until.removeEventListener('abort', end);
    await sleep(1_000);
  }
}

const runFile = promisify(execFile);

/**
 * Probes like a kubelet, each time on a new connection, until `until` aborts. Returns the time of each response in milliseconds. It runs curl,
 * because this process is busy with the other connections.
 */
async function probe(url: string, until: AbortSignal): Promise<readonly number[]> {
  const parameters = ['-ks', '--max-time', '10', '-o', '/dev/null', '-w', '%{http_code} %{time_total}', `${url}/livez`];
  const times: number[] = [];
  while (!until.aborted) {
    const { stdout } = await runFile('curl', parameters).catch(() => ({ stdout: '' }));
    const [status, seconds] = stdout.split(' ');
    times.push(status === '200' ? Number(seconds) * 1_000 : Infinity);
    await sleep(200);
  }
  return times;
}

/** Probes while the five addresses hold all the connections that they can get. */
async function withstandCrowd(port: number, url: string): Promise<void> {
  const crowd = new AbortController();
  const { signal } = crowd;
  setMaxListeners(0, signal);
  const occupying = crowdAddresses.flatMap((address) =>
    Array.from({ length: crowdConnections }, () => occupy(port, address, signal)),
  );
  const probes = probe(url, signal);
  await sleep(crowdMs);
  crowd.abort();
  await Promise.all(occupying);
  const times = await probes;
  const tooSlow = times.filter((ms) => ms > maxProbeMs).length;
  const answered = times.filter((ms) => ms !== Infinity);
  const slowestMs = Math.max(0, ...answered).toFixed(0);
  const what = `${times.length} probes beside ${crowdAddresses.length} addresses with ${crowdConnections} connections each`;
  console.log(`${what}: ${answered.length} answered, the slowest after ${slowestMs} ms`);
  if (tooSlow > 0) problems.push(`${tooSlow} of ${what} got no response within ${maxProbeMs / 1_000} s`);
}

/** Creates gangs, lets the scheduler bind them and deletes them until `until` aborts. */
async function work(client: KubeClient, until: AbortSignal): Promise<number> {
  const base = '/api/v1/namespaces/default/pods';
  const groups = '/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups';
  let gangs = 0;
  for (; !until.aborted; gangs++) {
    const name = `gang-${gangs}`;
    const metadata = { name, labels: { 'scheduling.x-k8s.io/pod-group': name } };
    await client.create(groups, {
      apiVersion: 'scheduling.x-k8s.io/v1alpha1',
      kind: 'PodGroup',
      metadata: { name },
      spec: { minMember: gangSize },
    });
    const pods = Array.from({ length: gangSize }, (_, index) => `${name}-${index}`);
    for (const pod of pods) {
      await client.create(base, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { ...metadata, name: pod },
        spec: {
          schedulerName: 'tutti',
          // Every tenth gang does not fit and stays in the queue.
          containers: [
            { name: 'main', image: 'a', resources: { requests: { cpu: gangs % 10 === 0 ? '64' : '100m' } } },
          ],
        },
      });
    }
    await sleep(50);
    if (gangs % 10 !== 0) for (const pod of pods) await client.delete(`${base}/${pod}`);
  }
  return gangs;
}

async function delays(scheduler: ChildProcess): Promise<LoopDelays> {
  scheduler.send('report');
  const [report] = (await once(scheduler, 'message')) as [LoopDelays];
  return report;
}

function inMs({ longest, p99, longestComputing }: LoopDelays): string {
  return `max ${longest.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, max CPU time ${longestComputing.toFixed(1)} ms`;
}

const server = new EmbeddedApiServer({ clock: systemClock, random: seededRandom(seed) });
const listener = await listenHttp(server, 0);
const client = new KubeClient({ transport: new InProcessTransport(server), clock: systemClock });
const folder = await mkdtemp(join(tmpdir(), 'tutti-fuzz-'));
try {
  await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', podGroupDefinition);
  const amounts = { cpu: '16', memory: '64Gi', pods: '110' };
  for (let index = 0; index < nodeCount; index++) {
    const name = `node-${index}`;
    const conditions = [{ type: 'Ready', status: 'True' }];
    await client.create('/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      status: { allocatable: amounts, capacity: amounts, conditions },
    });
    await client.patch(`/api/v1/nodes/${name}`, 'merge', { spec: { taints: null } });
  }
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, localKubeconfig(listener.url));
  const [port] = (await freePorts(1)) as [number];
  const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
  const scheduler = spawn(
    process.execPath,
    [
      ...['--import', file('report-loop-delay.ts'), file('../src/main.ts'), 'scheduler'],
      ...['--kubeconfig', kubeconfig, '--kube-api-qps', '0', '--bind-address', '127.0.0.1'],
      ...['--secure-port', String(port), '--log-format', 'json'],
    ],
    { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
  );
  let log = '';
  scheduler.stderr!.on('data', (data: Buffer) => (log += data.toString()));
  const ended = once(scheduler, 'exit');
  const url = `https://127.0.0.1:${port}`;
  while ((await httpsGet(`${url}/readyz`).catch(() => undefined))?.status !== 200) await sleep(50);

  const working = new AbortController();
  const worked = work(client, working.signal);
  await sleep(2_000);
  await delays(scheduler);
  await sleep(baselineMs);
  console.log(`event loop without requests, ${baselineMs / 1_000} s: ${inMs(await delays(scheduler))}`);

  const startedAt = performance.now();
  const outcomes = new Map<string, number>();
  let sent = 0;
  let slowestProbeMs = 0;
  const attacking = Array.from({ length: concurrency }, async () => {
    while (sent < requests && scheduler.exitCode === null) {
      sent++;
      const outcome = await attack(port);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  });
  const probing = (async () => {
    while (sent < requests && scheduler.exitCode === null) {
      const probedAt = performance.now();
      const { status } = await httpsGet(`${url}/livez`, { timeout: 10_000 }).catch(() => ({ status: 0 }));
      slowestProbeMs = Math.max(slowestProbeMs, performance.now() - probedAt);
      if (status !== 200) problems.push(`a probe of /livez under load returned ${status || 'no response'}`);
      await sleep(500);
    }
  })();
  await Promise.all([...attacking, probing]);
  const seconds = (performance.now() - startedAt) / 1_000;
  if (scheduler.exitCode === null) {
    const underLoad = await delays(scheduler);
    console.log(`event loop under load, ${sent} requests in ${seconds.toFixed(0)} s, seed ${seed}: ${inMs(underLoad)}`);
    // Only count CPU time: on a shared machine, the rest is time of other processes.
    const { longestComputing } = underLoad;
    if (longestComputing > maxStallMs) problems.push(`the event loop stalled for ${longestComputing.toFixed(1)} ms`);
    const { status } = await httpsGet(`${url}/readyz`);
    if (status !== 200) problems.push(`/readyz returned ${status} afterwards`);
  }
  await withstandCrowd(port, url);
  console.log(`slowest response of /livez under load: ${slowestProbeMs.toFixed(0)} ms`);
  for (const [outcome, count] of [...outcomes].sort()) console.log(`${String(count).padStart(7)}  ${outcome}`);
  working.abort();
  console.log(`gangs scheduled during the test: ${await worked}`);
  scheduler.kill('SIGTERM');
  const [code, signal] = (await ended) as [number | null, string | null];
  if (code !== 0) problems.push(`the scheduler exited with ${code ?? signal}`);
  problems.push(...log.split('\n').filter((line) => /"level":"error"|Error|unhandled/.test(line)));
} finally {
  server.close();
  await listener.close();
  await rm(folder, { recursive: true, force: true });
}
for (const problem of problems.slice(0, 20)) console.log(`PROBLEM: ${problem}`);
console.log(problems.length === 0 ? 'no problems' : `${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);
