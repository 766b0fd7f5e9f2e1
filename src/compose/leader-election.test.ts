import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiProxy } from '../../test/planes/api-proxy.ts';
import { openEmbeddedPlane } from '../../test/planes/embedded.ts';
import type { TestPlane } from '../../test/planes/plane.ts';
import { podGroupPath } from '../api/pod-group.ts';
import { deferred } from '../base/deferred.ts';
import { defaultConfiguration, defaultLeaderElection, defaultProfile } from '../config/scheduler-configuration.ts';
import type { ExtenderConfiguration, SchedulerConfiguration } from '../config/scheduler-configuration.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import { runController } from './controller.ts';
import type { RunningProcess } from './running-process.ts';
import { runScheduler } from './scheduler.ts';
import { hangsMs } from '../../test/planes/patience.ts';

const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/tutti';
const leaderElection = { ...defaultLeaderElection, resourceName: 'tutti' };

let plane: TestPlane;
let proxies: ApiProxy[];
let running: RunningProcess[];
let extender: Server | undefined;

beforeEach(async () => {
  plane = await openEmbeddedPlane();
  proxies = [];
  running = [];
});

afterEach(async () => {
  await Promise.all(running.map((process) => process.stop()));
  await Promise.all(proxies.map((proxy) => proxy.cut()));
  extender?.closeAllConnections();
  extender?.close();
  extender = undefined;
  await plane.stop();
});

interface Watched {
  readonly process: RunningProcess;
  readonly proxy: ApiProxy;
  /** Its requests to the server, in order. */
  readonly requests: string[];
}

type Replica = Parameters<typeof runScheduler>[0];

type Run = (connection: Pick<Replica, 'endpoint' | 'serving' | 'logger'>) => Promise<RunningProcess>;
/** Returns what a call must wait for before it is forwarded. */
type Delay = (call: string) => Promise<void> | undefined;

async function start(run: Run, delay?: Delay): Promise<Watched> {
  const proxy = await ApiProxy.open(plane.transport);
  proxies.push(proxy);
  const requests: string[] = [];
  proxy.fault = async ({ method, path }) => {
    requests.push(`${method} ${path}`);
    await delay?.(`${method} ${path}`);
    return undefined;
  };
  const process = await run({ endpoint: proxy.endpoint, serving: { kind: 'local', port: 0 }, logger: silentLogger });
  running.push(process);
  return { process, proxy, requests };
}

function scheduler(
  delay?: Delay,
  configuration: Partial<SchedulerConfiguration> = {},
  drainMs?: number,
): Promise<Watched> {
  return start(
    (connection) =>
      runScheduler({
        ...connection,
        ...(drainMs !== undefined && { drainMs }),
        configuration: defaultConfiguration({
          profiles: [defaultProfile('tutti')],
          clientConnection: { qps: 0, burst: 1 },
          leaderElection,
          ...configuration,
        }),
      }),
    delay,
  );
}

function controller(delay?: Delay): Promise<Watched> {
  return start((connection) => runController({ ...connection, leaderElection, qps: 0, burst: 1, workers: 1 }), delay);
}

const holder = async (): Promise<string> =>
  (await plane.client.get<{ spec: { holderIdentity: string } }>(lease)).spec.holderIdentity;

async function untilReady({ process }: Watched): Promise<void> {
  await expect.poll(async () => (await fetch(`${process.url}/readyz`)).status).toBe(200);
}

/** Waits until the process has seen the current state, so that it would have written by now. */
async function untilSynced(watched: Watched, kind: string): Promise<void> {
  await untilReady(watched);
  await expect.poll(() => watched.requests.filter((call) => call.includes(`/${kind}?`)).length).toBeGreaterThan(1);
}

async function addNode(): Promise<void> {
  const amounts = { cpu: '4', memory: '4Gi', pods: '10' };
  const status = { allocatable: amounts, capacity: amounts };
  await plane.client.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node' }, status });
}

async function addPod(name: string, metadata: object = {}, cpu = '1'): Promise<void> {
  const container = { name: 'main', image: 'busybox', resources: { requests: { cpu } } };
  await plane.client.create('/api/v1/namespaces/default/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: { schedulerName: 'tutti', containers: [container] },
  });
}

async function addGroup(name: string): Promise<void> {
  await plane.client.create(podGroupPath('default'), {
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    metadata: { name },
    spec: { minMember: 2 },
  });
}

interface SeenPod {
  readonly spec: { readonly nodeName?: string };
}

async function expectBound(name: string): Promise<void> {
  const path = `/api/v1/namespaces/default/pods/${name}`;
  await expect.poll(async () => (await plane.client.get<SeenPod>(path)).spec.nodeName).toBe('node');
}

/** Creates objects for which a leader writes something. */
async function addObjectsToWriteAbout(): Promise<void> {
  const key = 'scheduling.x-k8s.io/pod-group';
  await addNode();
  await addGroup('red');
  await addPod('lone');
  await addPod('too-large', {}, '100');
  await addPod('alone-of-its-group', { labels: { [key]: 'red' } });
  await addPod('of-no-group', { labels: { [key]: 'absent' } });
  await addPod('of-two-groups', { labels: { [key]: 'red' }, annotations: { [key]: 'blue' } });
}

const isWrite = (call: string): boolean => !call.startsWith('GET ');
const isList = (call: string): boolean => /^GET .*\/(pods|nodes|podgroups)\?(?!.*watch=true)/.test(call);

describe.each([
  ['scheduler', scheduler],
  ['controller', controller],
])('a %s', (_, replica) => {
  it('on standby writes nothing until the leader stops', async () => {
    const leader = await replica();
    await untilReady(leader);
    await expect.poll(holder).not.toBe('');
    const standby = await replica();
    await untilSynced(standby, 'pods');
    await addObjectsToWriteAbout();
    await expect.poll(() => leader.requests.filter((call) => call.includes('/status')).length).toBeGreaterThan(0);
    const seen = standby.requests.length;
    await plane.client.patch(lease, 'merge', { metadata: { annotations: { seen: 'yes' } } }); // it reads the Lease then
    await expect.poll(() => standby.requests.length).toBeGreaterThan(seen);
    expect(standby.requests.filter(isWrite)).toEqual([]);
    await leader.process.stop();
    await expect.poll(() => standby.requests.find(isWrite)).toBe(`PUT ${lease}`);
  });

  it('lists everything while reading the Lease hangs, and leads once that succeeds', async () => {
    const unblocked = deferred();
    const standby = await replica((call) => (call === `GET ${lease}` ? unblocked.promise : undefined));
    await untilReady(standby);
    // A call for the Lease times out after 5 s and is retried; the lists do not wait for that.
    const calls = standby.requests.filter((call) => call === `GET ${lease}` || isList(call));
    const givenUpAt = calls.indexOf(`GET ${lease}`, calls.indexOf(`GET ${lease}`) + 1);
    expect((givenUpAt === -1 ? calls : calls.slice(0, givenUpAt)).some(isList)).toBe(true);
    expect(standby.requests.filter(isWrite)).toEqual([]);
    unblocked.resolve();
    await expect.poll(holder).not.toBe('');
    await addObjectsToWriteAbout();
    await expect.poll(() => standby.requests.some((call) => call.includes('/status'))).toBe(true);
  });

  it('that leads after its first attempt lists everything once', async () => {
    for (let isTimely = false; !isTimely;) {
      await addObjectsToWriteAbout();
      const leader = await replica();
      await expect.poll(() => leader.requests.some((call) => call.includes('/status'))).toBe(true);
      // It waits for its first attempt only briefly: on a busy machine the lists may be faster.
      isTimely = leader.requests.indexOf(`POST ${lease.slice(0, -6)}`) < leader.requests.findIndex(isList);
      const lists = leader.requests.filter(isList).map((call) => call.split(/[ ?]/)[1]);
      if (isTimely) expect(lists).toEqual([...new Set(lists)]);
      await leader.process.stop();
      await plane.stop();
      plane = await openEmbeddedPlane();
    }
  });
});

describe('a scheduler', () => {
  it('with delayCacheUntilActive is ready but lists nothing until the leader stops', async () => {
    const leader = await scheduler();
    await expect.poll(() => leader.requests.some(isList)).toBe(true);
    const standby = await scheduler(undefined, { delayCacheUntilActive: true });
    await untilReady(standby);
    expect(standby.requests.filter(isList)).toEqual([]);
    await leader.process.stop();
    await addNode();
    await addPod('later');
    await expectBound('later');
    // Nodes, pods, and the PodGroups of both APIs.
    expect(standby.requests.filter(isList)).toHaveLength(4);
  });

  it.each([false, true])('releases the Lease when it stops, unless a Binding hangs (%s)', async (hangs) => {
    const leader = await scheduler();
    const bound = deferred();
    const record = leader.proxy.fault!;
    leader.proxy.fault = (request, forward) => {
      if (!request.path.endsWith('/binding')) return record(request, forward);
      bound.resolve();
      return hangs ? new Promise(() => undefined) : undefined;
    };
    await addNode();
    await addPod('one');
    await bound.promise;
    const before = await holder();
    const begunAt = performance.now();
    await leader.process.stop();
    expect(performance.now() - begunAt).toBeLessThan(hangsMs);
    expect(await holder()).toBe(hangs ? before : '');
  });

  describe('that stops while it binds a gang', () => {
    const names = ['red-0', 'red-1', 'red-2', 'red-3'];
    const labels = { 'scheduling.x-k8s.io/pod-group': 'red' };

    /** Binds four members one by one. Resolves when the first one is bound. */
    async function startToBindGang(): Promise<Watched> {
      const leader = await scheduler(undefined, { clientConnection: { qps: 2, burst: 1 } }, hangsMs);
      await addNode();
      await plane.client.create(podGroupPath('default'), {
        apiVersion: 'scheduling.x-k8s.io/v1alpha1',
        kind: 'PodGroup',
        metadata: { name: 'red' },
        spec: { minMember: 4 },
      });
      for (const name of names) await addPod(name, { labels });
      await expect.poll(bound).toHaveLength(1);
      return leader;
    }

    async function bound(): Promise<string[]> {
      const { items } = await plane.client.list('/api/v1/namespaces/default/pods');
      const pods = items as (SeenPod & { readonly metadata: { readonly name: string } })[];
      return pods.flatMap(({ spec, metadata }) => (spec.nodeName === undefined ? [] : [metadata.name])).sort();
    }

    it('binds the other members, and then releases the Lease', async () => {
      const leader = await startToBindGang();
      const before = await holder();
      const stopping = leader.process.stop();
      expect(await holder()).toBe(before);
      await stopping;
      expect(await bound()).toEqual(names);
      expect(await holder()).toBe('');
    });
  });

  it('keeps the Lease when it stops while an extender may still bind', async () => {
    const called = deferred();
    extender = createServer(() => called.resolve()).listen(0, '127.0.0.1');
    await once(extender, 'listening');
    const binds: ExtenderConfiguration = {
      urlPrefix: `http://127.0.0.1:${(extender.address() as AddressInfo).port}`,
      bindVerb: 'bind',
      weight: 1,
      enableHttps: false,
      httpTimeoutMs: 60_000,
      nodeCacheCapable: true,
      managedResources: [],
      ignorable: false,
    };
    const leader = await scheduler(undefined, { extenders: [binds] });
    await addNode();
    await addPod('one');
    await called.promise;
    const before = await holder();
    expect(before).not.toBe('');
    await leader.process.stop();
    expect(await holder()).toBe(before);
  });
});
