import { Buffer } from 'node:buffer';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../base/system-clock.ts';
import { fixedEndpoint } from '../../../client/endpoint.ts';
import { HttpTransport } from '../../../client/http/http-transport.ts';
import { KubeClient } from '../../../client/kube-client.ts';
import { makeSelfSignedCertificate } from '../../../serving/certificates/self-signed-certificate.ts';
import type { CommandContext } from '../../command-context.ts';
import { queueOfLeader } from '../queue/queue-of-leader.ts';
import { askLeader } from './ask-leader.ts';
import type { LeaderFlags } from './leader-flags.ts';
import type { ForwardedLeader } from './forwarded-leader.ts';
import type { LeaderState } from './leader-state.ts';
import { openLeader } from './open-leader.ts';
import { ForwardingServer } from '../../../client/testing/forwarding-server.ts';
import type { ForwardTarget, ForwardingServerOptions } from '../../../client/testing/forwarding-server.ts';

const account = { namespace: 'tutti-system', name: 'debug' };
const unverified: LeaderFlags = { tokenFromServiceAccount: account, insecureSkipSchedulerTlsVerify: true };
const configuration = [
  'apiVersion: kubescheduler.config.k8s.io/v1',
  'kind: KubeSchedulerConfiguration',
  'leaderElection: {resourceName: tutti-scheduler, resourceNamespace: tutti-system}',
  'profiles: [{schedulerName: tutti}]',
].join('\n');
const lease = '/apis/coordination.k8s.io/v1/namespaces/tutti-system/leases/tutti-scheduler';
const firstPod = '/api/v1/namespaces/tutti-system/pods/tutti-scheduler-x';
const https = { name: 'https', containerPort: 12_345 };
const objects: ForwardingServerOptions['objects'] = {
  '/api/v1/configmaps': {
    metadata: { resourceVersion: '1' },
    items: [{ metadata: { namespace: 'tutti-system', name: 'c' }, data: { 'scheduler.yaml': configuration } }],
  },
  [lease]: { spec: { holderIdentity: 'tutti-scheduler-x_2b0f' } },
  [firstPod]: {
    spec: { containers: [{ name: 'scheduler', ports: [https] }] },
  },
  '/api/v1/namespaces/tutti-system/serviceaccounts/debug/token': { status: { token: 'secret' } },
};
const lastPod = '/api/v1/namespaces/tutti-system/pods/tutti-scheduler-y';
/** A newer scheduler has more fields. */
const entity = { kind: 'PodGroup', source: 'scheduling.x-k8s.io', namespace: 'ml', name: 'red', attempts: 7, score: 3 };

let scheduler: Server;
let ca: string;
let folder: string;
let api: ForwardingServer | undefined;
let transport: HttpTransport | undefined;
/** Tokens that the scheduler has received. */
let tokens: (string | undefined)[];
/** The client has closed the stream of the scheduler. */
let streamEnded: () => void = () => undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-leader-'));
  const { certificates: cert, key } = await makeSelfSignedCertificate(
    ['tutti-scheduler.tutti-system.svc'],
    Date.now(),
    1,
  );
  ca = join(folder, 'ca.pem');
  await writeFile(ca, cert);
  scheduler = createServer({ cert, key }, ({ url, headers }, response) => {
    tokens.push(headers.authorization);
    if (url === '/debug/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-last': headers['last-event-id'] });
      response.write('data: 1\n\n');
      response.once('close', () => streamEnded());
      return;
    }
    if (url === '/debug/snapshot') {
      response.end(Buffer.from([0x1f, 0x8b, 0xff, 0x00]));
      return;
    }
    if (url === '/debug/upgrade') {
      response.socket!.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n');
      return;
    }
    const isFirst = url === '/debug/queue?limit=500&offset=0';
    const entities = [{ ...entity, store: isFirst ? 'gated' : 'unschedulable', priority: isFirst ? 0 : 5 }];
    const isDenied = headers.authorization !== 'Bearer secret';
    response.writeHead(isDenied ? 403 : 200);
    response.end(
      JSON.stringify(isDenied ? { message: 'forbidden' } : { entities, ...(isFirst && { nextOffset: 500 }) }),
    );
  });
  await new Promise<void>((resolve) => scheduler.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  scheduler.closeAllConnections();
  await new Promise((resolve) => scheduler.close(resolve));
  await rm(folder, { recursive: true });
});

beforeEach(() => {
  tokens = [];
});

afterEach(async () => {
  await transport?.close();
  await api?.close();
});

async function open(flags: LeaderFlags, options: Partial<ForwardingServerOptions> = {}): Promise<ForwardedLeader> {
  api = await ForwardingServer.start({ objects, target: (scheduler.address() as AddressInfo).port, ...options });
  const endpoint = fixedEndpoint(api.url);
  transport = new HttpTransport({ endpoint });
  const client = new KubeClient({ transport, clock: systemClock });
  return openLeader({ client, endpoint }, flags, new AbortController().signal);
}

describe('the scheduler that leads', () => {
  it('KP13: is the holder of the Lease, and answers through a port-forward with a token; fields that are not known are ignored', async () => {
    const items = await queueOfLeader(await open(unverified));
    expect(items).toMatchObject([
      { position: 1, subject: { kind: 'PodGroup', namespace: 'ml', name: 'red' }, state: 'unschedulable', priority: 5 },
      { state: 'gated', attempts: 7 },
    ]);
    expect(items[1]).not.toHaveProperty('position');
    expect(api!.forwards[0]).toBe('/api/v1/namespaces/tutti-system/pods/tutti-scheduler-x/portforward?ports=12345');
    expect(tokens).toEqual(['Bearer secret', 'Bearer secret']);
    const [, , body] = api!.requests.find(([method]) => method === 'POST')!;
    expect(JSON.parse(body)).toMatchObject({ kind: 'TokenRequest', spec: { expirationSeconds: 600 } });
  });

  it('sends bytes as they are', async () => {
    const leader = await open(unverified);
    expect([...(await leader.download('/debug/snapshot'))]).toEqual([0x1f, 0x8b, 0xff, 0x00]);
    expect(tokens).toEqual(['Bearer secret']);
  });

  it('streams a response whose end no client waits for, until the caller ends it', async () => {
    const ended = new Promise<void>((resolve) => (streamEnded = resolve));
    const leader = await open(unverified);
    const abort = new AbortController();
    const headers = { 'last-event-id': 'e.1' };
    const response = await leader.stream('/debug/events', { headers, signal: abort.signal });
    expect([response.statusCode, response.headers['x-last']]).toEqual([200, 'e.1']);
    expect(tokens).toEqual(['Bearer secret']);
    response.on('error', () => undefined);
    await new Promise<void>((resolve) => {
      response.once('data', (data: unknown) => {
        expect(String(data)).toBe('data: 1\n\n');
        resolve();
      });
    });
    abort.abort();
    await ended;
  });

  it('that changes the protocol does not answer', async () => {
    const leader = await open(unverified);
    const options = { headers: {}, signal: new AbortController().signal };
    await expect(leader.stream('/debug/upgrade', options)).rejects.toThrow('did not answer GET /debug/upgrade');
    await expect(leader.get('/debug/upgrade')).rejects.toThrow('did not answer GET /debug/upgrade');
  });

  it('returns the response of a denied stream as it is', async () => {
    const schedulerTokenFile = join(folder, 'other-token');
    await writeFile(schedulerTokenFile, 'other\n');
    const leader = await open({ schedulerTokenFile, insecureSkipSchedulerTlsVerify: true });
    const response = await leader.stream('/debug/queue', { headers: {}, signal: new AbortController().signal });
    expect(response.statusCode).toBe(403);
    response.destroy();
  });

  it('KP10: is verified with the given authority and the name of its Service', async () => {
    const flags: LeaderFlags = { tokenFromServiceAccount: account, schedulerCa: ca };
    expect(await queueOfLeader(await open(flags))).toHaveLength(2);
  });

  it('KP10: gets no token if its certificate has another name', async () => {
    const leader = await open({ tokenFromServiceAccount: account, schedulerCa: ca, schedulerServerName: 'other' });
    await expect(leader.get('/debug/queue')).rejects.toThrow(
      /^the scheduler did not answer GET \/debug\/queue: .*altnames/,
    );
    expect(tokens).toEqual([]);
  });

  it('is not asked with a token unless its certificate is verified, or the user allows it', async () => {
    await expect(open({ tokenFromServiceAccount: account })).rejects.toThrow('certificate cannot be verified');
    expect(api!.requests.filter(([method]) => method === 'POST')).toEqual([]);
  });

  it('may deny the request', async () => {
    const schedulerTokenFile = join(folder, 'token');
    await writeFile(schedulerTokenFile, 'other\n');
    const leader = await open({ schedulerTokenFile, insecureSkipSchedulerTlsVerify: true });
    await expect(leader.get('/debug/queue')).rejects.toThrow(
      'the scheduler answered GET /debug/queue with 403: forbidden',
    );
  });

  it.each([
    [
      'there is no holder',
      { ...objects, [lease]: { spec: {} } },
      'no scheduler holds the Lease tutti-system/tutti-scheduler',
    ],
    [
      'its configuration cannot be read',
      { ...objects, '/api/v1/configmaps': { items: [], metadata: {} } },
      'so its Lease is unknown',
    ],
  ])('is not found if %s', async (_, others, message) => {
    await expect(open(unverified, { objects: others })).rejects.toThrow(message);
  });

  it('cannot be reached if the node cannot connect to its port', async () => {
    const leader = await open(unverified, { target: new Error('error forwarding port 12345: connection refused') });
    await expect(leader.get('/debug/queue')).rejects.toThrow(
      'cannot forward port 12345 of pod tutti-system/tutti-scheduler-x: error forwarding port 12345: connection refused',
    );
  });

  it('KP13: must answer in a form that is known', async () => {
    const leader = { get: () => Promise.resolve({ items: [] }), download: () => Promise.resolve(new Uint8Array()) };
    await expect(queueOfLeader(leader)).rejects.toThrow('unknown form');
  });

  it.each([
    [
      '999.0.1',
      /^The scheduler has version 999\.0\.1\. This command has \d+\.\d+\.\d+, so it may not show all of the answer\.\n$/,
    ],
    ['0.0.1', /^$/],
    ['latest', /^$/],
  ])('KP13: is named in one warning if its version %s is newer', async (version, warning) => {
    const spec = { containers: [{ name: 'scheduler', image: `registry:5000/tutti:${version}`, ports: [https] }] };
    const { port: target } = scheduler.address() as AddressInfo;
    api = await ForwardingServer.start({ objects: { ...objects, [firstPod]: { spec } }, target });
    const endpoint = fixedEndpoint(api.url);
    transport = new HttpTransport({ endpoint });
    const client = new KubeClient({ transport, clock: systemClock });
    const stderr = new PassThrough();
    const context = { interruption: { signal: new AbortController().signal }, stderr } as unknown as CommandContext;
    const cluster = { client, endpoint, namespace: 'ml' };
    expect(await askLeader(queueOfLeader, cluster, { ...unverified, source: 'scheduler' }, context)).toHaveLength(2);
    expect(String(stderr.read() ?? '')).toMatch(warning);
  });

  describe('KP9: whose pod does not answer', () => {
    const refused = new Error('connection refused');
    const stderr = new PassThrough();
    const context = { interruption: { signal: new AbortController().signal }, stderr } as unknown as CommandContext;
    const ask = (leader: LeaderState): Promise<number> => queueOfLeader(leader).then(({ length }) => length);

    async function askAmidChange(
      source: 'auto' | 'scheduler',
      target: ForwardingServerOptions['target'],
    ): Promise<number | undefined> {
      const current: Record<string, unknown> = { ...objects, [lastPod]: { spec: {} } };
      const next = (path: string): ForwardTarget => {
        current[lease] = { spec: { holderIdentity: 'tutti-scheduler-y_77' } };
        return typeof target === 'function' ? target(path) : target;
      };
      api = await ForwardingServer.start({ objects: current, target: next });
      const endpoint = fixedEndpoint(api.url);
      transport = new HttpTransport({ endpoint });
      const client = new KubeClient({ transport, clock: systemClock });
      return askLeader(ask, { client, endpoint, namespace: 'ml' }, { ...unverified, source }, context);
    }

    it('is asked again where the Lease names another pod', async () => {
      const { port } = scheduler.address() as AddressInfo;
      expect(await askAmidChange('scheduler', (path) => (path.includes('scheduler-x') ? refused : port))).toBe(2);
      expect(new Set(api!.forwards.map((path) => path.split('/')[6]))).toEqual(
        new Set(['tutti-scheduler-x', 'tutti-scheduler-y']),
      );
    });

    it('is given up after the second time: the answer comes from the API, unless the user wants the scheduler', async () => {
      expect(await askAmidChange('auto', refused)).toBeUndefined();
      expect(api!.forwards).toHaveLength(2);
      expect(String(stderr.read())).toMatch(
        /^The scheduler could not be asked, so the answer comes from the API: cannot forward port .* connection refused\.\n$/,
      );
      await transport?.close();
      await api?.close();
      await expect(askAmidChange('scheduler', refused)).rejects.toThrow('connection refused');
    });
  });
});
