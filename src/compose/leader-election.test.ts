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
  /** What it asked the server, in order. */
  readonly asked: string[];
}

type Replica = Parameters<typeof runScheduler>[0];

type Run = (place: Pick<Replica, 'endpoint' | 'serving' | 'logger'>) => Promise<RunningProcess>;
/** What a call waits for before it is let through. */
type Delay = (call: string) => Promise<void> | undefined;

async function start(run: Run, delay?: Delay): Promise<Watched> {
  const proxy = await ApiProxy.open(plane.transport);
  proxies.push(proxy);
  const asked: string[] = [];
  proxy.fault = async ({ method, path }) => {
    asked.push(`${method} ${path}`);
    await delay?.(`${method} ${path}`);
    return undefined;
  };
  const process = await run({ endpoint: proxy.endpoint, serving: { kind: 'local', port: 0 }, logger: silentLogger });
  running.push(process);
  return { process, proxy, asked };
}

function scheduler(
  delay?: Delay,
  configuration: Partial<SchedulerConfiguration> = {},
  drainMs?: number,
): Promise<Watched> {
  return start(
    (place) =>
      runScheduler({
        ...place,
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
  return start((place) => runController({ ...place, leaderElection, qps: 0, burst: 1, workers: 1 }), delay);
}

const holder = async (): Promise<string> =>
  (await plane.client.get<{ spec: { holderIdentity: string } }>(lease)).spec.holderIdentity;

async function untilReady({ process }: Watched): Promise<void> {
  await expect.poll(async () => (await fetch(`${process.url}/readyz`)).status).toBe(200);
}

/** As one that has seen what happens now would have written by now. */
async function untilItHasSeen(watched: Watched, kind: string): Promise<void> {
  await untilReady(watched);
  await expect.poll(() => watched.asked.filter((call) => call.includes(`/${kind}?`)).length).toBeGreaterThan(1);
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

/** Whatever a leader writes something about. */
async function addOccasionsToWrite(): Promise<void> {
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
  it('that stands by writes nothing, until the leader has gone', async () => {
    const leader = await replica();
    await untilReady(leader);
    await expect.poll(holder).not.toBe('');
    const standby = await replica();
    await untilItHasSeen(standby, 'pods');
    await addOccasionsToWrite();
    await expect.poll(() => leader.asked.filter((call) => call.includes('/status')).length).toBeGreaterThan(0);
    const seen = standby.asked.length;
    await plane.client.patch(lease, 'merge', { metadata: { annotations: { seen: 'yes' } } }); // it asks about that
    await expect.poll(() => standby.asked.length).toBeGreaterThan(seen);
    expect(standby.asked.filter(isWrite)).toEqual([]);
    await leader.process.stop();
    await expect.poll(() => standby.asked.find(isWrite)).toBe(`PUT ${lease}`);
  });

  it('lists everything although reading the Lease hangs, and leads when that does not any more', async () => {
    const going = deferred();
    const standby = await replica((call) => (call === `GET ${lease}` ? going.promise : undefined));
    await untilReady(standby);
    // A call to the Lease is given up after 5 s, and made again: the lists have not waited for that.
    const calls = standby.asked.filter((call) => call === `GET ${lease}` || isList(call));
    const givenUpAt = calls.indexOf(`GET ${lease}`, calls.indexOf(`GET ${lease}`) + 1);
    expect((givenUpAt === -1 ? calls : calls.slice(0, givenUpAt)).some(isList)).toBe(true);
    expect(standby.asked.filter(isWrite)).toEqual([]);
    going.resolve();
    await expect.poll(holder).not.toBe('');
    await addOccasionsToWrite();
    await expect.poll(() => standby.asked.some((call) => call.includes('/status'))).toBe(true);
  });

  it('that leads from its first attempt lists everything once', async () => {
    for (let isTimely = false; !isTimely;) {
      await addOccasionsToWrite();
      const leader = await replica();
      await expect.poll(() => leader.asked.some((call) => call.includes('/status'))).toBe(true);
      // It waits for its first attempt, but not for long: on a busy machine another one may be quicker.
      isTimely = leader.asked.indexOf(`POST ${lease.slice(0, -6)}`) < leader.asked.findIndex(isList);
      const lists = leader.asked.filter(isList).map((call) => /\/(\w+)\?/.exec(call)![1]);
      if (isTimely) expect(lists).toEqual([...new Set(lists)]);
      await leader.process.stop();
      await plane.stop();
      plane = await openEmbeddedPlane();
    }
  });
});

describe('a scheduler', () => {
  it('with delayCacheUntilActive is ready and has listed nothing, until the leader has gone', async () => {
    const leader = await scheduler();
    await expect.poll(() => leader.asked.some(isList)).toBe(true);
    const standby = await scheduler(undefined, { delayCacheUntilActive: true });
    await untilReady(standby);
    expect(standby.asked.filter(isList)).toEqual([]);
    await leader.process.stop();
    await addNode();
    await addPod('later');
    await expectBound('later');
    expect(standby.asked.filter(isList)).toHaveLength(3);
  });

  it.each([false, true])('that ends frees the Lease, or not, when a Binding hangs: %s', async (hangs) => {
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

  describe('that ends while a gang is being bound', () => {
    const names = ['red-0', 'red-1', 'red-2', 'red-3'];
    const labels = { 'scheduling.x-k8s.io/pod-group': 'red' };

    /** Binds four members one after the other. Resolves when the first one is bound. */
    async function inMidGang(): Promise<Watched> {
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

    it('binds the rest of it, and gives the Lease up then', async () => {
      const leader = await inMidGang();
      const before = await holder();
      const stopping = leader.process.stop();
      expect(await holder()).toBe(before);
      await stopping;
      expect(await bound()).toEqual(names);
      expect(await holder()).toBe('');
    });
  });

  it('that ends keeps the Lease while an extender may still bind', async () => {
    const asked = deferred();
    extender = createServer(() => asked.resolve()).listen(0, '127.0.0.1');
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
    await asked.promise;
    const before = await holder();
    expect(before).not.toBe('');
    await leader.process.stop();
    expect(await holder()).toBe(before);
  });
});
