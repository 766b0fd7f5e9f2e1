import { beforeAll, describe, expect, it } from 'vitest';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { metricsRoute } from '../metrics-route.ts';
import type { Route } from '../route.ts';
import { cacheRoute } from './cache-route.ts';
import { groupsRoute } from './groups-route.ts';
import { queueRoute } from './queue-route.ts';
import { cpuMsOf, longestTurnMsOf } from '../../../test/expect/cpu-ms.ts';

function routesOf({ harness }: Scheduling): (target: string) => Promise<{ status: number; body: unknown }> {
  const scheduler = { state: harness.core };
  const routes: Route[] = [queueRoute(scheduler, harness.clock), cacheRoute(scheduler), groupsRoute(scheduler)];
  return async (target) => {
    const { pathname, searchParams } = new URL(target, 'http://x');
    const { status, text } = await routes.find(({ path }) => path === pathname)!.answer(searchParams);
    return { status, body: status === 200 ? (JSON.parse(text) as unknown) : text };
  };
}

describe('the debug endpoints of a small cluster', () => {
  async function small(): Promise<Scheduling> {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 2, memory: '1Gi' });
    core.node({ name: 'b', cpu: 2, memory: '1Gi', unschedulable: true });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 2 });
    core.group({ name: 'blue', minMember: 3 });
    core.members(1, { group: 'blue', cpu: 1 });
    core.pod({ name: 'lone', namespace: 'other', cpu: 1, priority: 7 });
    while ((await core.attempt()) !== undefined);
    await core.accept('lone');
    return core;
  }

  it('show the waiting entities with their store and the reason', async () => {
    const { body } = await routesOf(await small())('/debug/queue');
    expect(body).toMatchObject({
      counts: { active: 0, backoff: 0, unschedulable: 1, gated: 1 },
      entities: [
        {
          kind: 'PodGroup',
          namespace: 'default',
          name: 'red',
          store: 'unschedulable',
          since: expect.stringMatching(/^20.*Z$/) as string,
          attempts: expect.any(Number) as number,
          unschedulablePlugins: expect.arrayContaining(['NodeResourcesFit']) as string[],
          message: expect.stringContaining('red cannot start') as string,
        },
        { name: 'blue', store: 'gated', message: expect.stringContaining('1 of the 3') as string },
      ],
    });
  });

  it('show a waiting group of Kubernetes itself with its namespace and its API', async () => {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.nativeGroup({ name: 'green', minCount: 2 });
    core.pod({ name: 'green-0', schedulingGroup: 'green' });
    const { body } = await routesOf(core)('/debug/queue?namespace=default&name=green');
    expect(body).toMatchObject({
      entities: [{ kind: 'PodGroup', source: 'scheduling.k8s.io', namespace: 'default', name: 'green' }],
    });
  });

  it('show the nodes with their requested resources', async () => {
    const ask = routesOf(await small());
    expect((await ask('/debug/cache')).body).toMatchObject({
      counts: { nodes: 2, pods: 4, assumedPods: 1 },
      nodes: [
        { name: 'a', pods: 1, requested: { cpu: 1000, pods: 1 }, allocatable: { cpu: 2000, memory: 2 ** 30 } },
        { name: 'b', unschedulable: true, pods: 0, requested: {} },
      ],
    });
    expect((await ask('/debug/cache?name=b')).body).toMatchObject({ nodes: [{ name: 'b' }] });
    expect((await ask('/debug/cache?name=c')).body).toMatchObject({ nodes: [] });
  });

  it('show the groups, and the members of one', async () => {
    const ask = routesOf(await small());
    expect((await ask('/debug/groups')).body).toMatchObject({
      groups: [
        { name: 'red', minMember: 2, missing: 2, counts: { pending: 2 }, verdict: { reason: 'Unschedulable' } },
        { name: 'blue', minMember: 3, size: 1 },
      ],
    });
    expect((await ask('/debug/groups?namespace=default&name=red')).body).toMatchObject({
      name: 'red',
      members: [
        { name: 'red-0', state: 'pending' },
        { name: 'red-1', state: 'pending' },
      ],
    });
    expect(await ask('/debug/groups?namespace=default&name=green')).toMatchObject({ status: 404 });
  });

  it("show PodGroups of Kubernetes with their API, under their namespace's name", async () => {
    const core = await small();
    core.nativeGroup({ name: 'red', minCount: 3 });
    core.pod({ name: 'native-0', schedulingGroup: 'red' });
    while ((await core.attempt()) !== undefined);
    const ask = routesOf(core);
    const native = { source: 'scheduling.k8s.io', namespace: 'default', name: 'red' };
    const labeled = { source: 'scheduling.x-k8s.io', namespace: 'default', name: 'red' };
    const ofBoth = 'namespace=default&name=red';
    expect((await ask(`/debug/queue?${ofBoth}`)).body).toMatchObject({ entities: [labeled, native] });
    expect((await ask('/debug/groups?name=red')).body).toMatchObject({ groups: [labeled, native] });
    const inNamespace = (await ask('/debug/groups?namespace=default&source=scheduling.k8s.io')).body;
    expect(inNamespace).toMatchObject({ groups: [native] });
    expect((await ask(`/debug/groups?${ofBoth}&source=scheduling.k8s.io`)).body).toMatchObject({
      ...native,
      minMember: 3,
    });
  });

  it('support paging and filters, and reject unknown parameters', async () => {
    const ask = routesOf(await small());
    const first = (await ask('/debug/queue?limit=1')).body;
    expect(first).toMatchObject({ entities: [{ name: 'red' }], nextOffset: 1 });
    const second = (await ask('/debug/queue?limit=1&offset=1')).body;
    expect(second).toMatchObject({ entities: [{ name: 'blue' }] });
    expect(second).not.toHaveProperty('nextOffset');
    expect((await ask('/debug/queue?name=blue')).body).toMatchObject({ entities: [{ name: 'blue' }] });
    expect((await ask('/debug/queue?namespace=none')).body).toMatchObject({ entities: [] });
    for (const bad of [
      'limit=0',
      'limit=501',
      'limit=1e2',
      'offset=-1',
      'name=',
      `name=${'a'.repeat(300)}`,
      'nmae=a',
    ]) {
      expect(await ask(`/debug/queue?${bad}`)).toMatchObject({ status: 400 });
    }
  });
});

it('show text of users short and without control characters, and metrics show none of it', async () => {
  const core = new Scheduling({ plugins: defaultPlugins });
  core.node({ name: 'a', cpu: 2 });
  const text = `\u001b[2J\n\u202e\u009bforged${'x'.repeat(200_000)}`;
  core.pod({ name: 'in-a-group', groupAnnotation: text });
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: text } }];
  core.pod({ name: 'alone', spec: { volumes } });
  while ((await core.attempt()) !== undefined);
  core.harness.clock.advance(5_000);
  const { harness } = core;
  for (const route of [queueRoute({ state: harness.core }, harness.clock), groupsRoute({ state: harness.core })]) {
    const page = await route.answer(new URLSearchParams());
    expect(page.text).toContain('\\\\u001b[2J');
    expect(page.text).toMatch(/^[ -~…\n]*$/);
    expect(page.text.length).toBeLessThan(10_000);
  }
  const metrics = await metricsRoute(harness.registry).answer(new URLSearchParams());
  expect(metrics.text).not.toContain('forged');
});

describe('with 5,000 nodes and 50,000 pods', () => {
  let core: Scheduling;

  beforeAll(() => {
    core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    for (let index = 0; index < 5_000; index++) core.node({ name: `node-${index}`, cpu: 16, memory: '64Gi' });
    for (let index = 0; index < 30_000; index++)
      core.pod({ name: `bound-${index}`, cpu: 1, nodeName: `node-${index % 5_000}` });
    for (let index = 0; index < 10_000; index++) core.pod({ name: `lone-${index}`, cpu: 1 });
    for (let index = 0; index < 1_000; index++) {
      core.group({ name: `gang-${index}`, minMember: 10 });
      core.members(10, { group: `gang-${index}`, cpu: 1 });
    }
    core.start();
  });

  it.each([
    '/debug/queue?limit=500',
    '/debug/queue?namespace=none',
    '/debug/queue?limit=500&offset=9000',
    '/debug/cache?limit=500&offset=4400',
    '/debug/groups?limit=500',
    '/debug/groups?name=gang-999',
  ])('%s blocks the event loop for less than 50 ms', async (target) => {
    const ask = routesOf(core);
    await ask(target); // warm-up
    const longest: number[] = [];
    for (let index = 0; index < 5; index++) {
      longest.push(await longestTurnMsOf(async () => expect(await ask(target)).toMatchObject({ status: 200 })));
    }
    // A garbage collection may interfere, so the best run counts.
    expect(Math.min(...longest)).toBeLessThan(50);
  });

  it('ME11 /metrics is smaller than 200 kB and takes less than 20 ms', async () => {
    const route = metricsRoute(core.harness.registry);
    const costs: number[] = [];
    let text = '';
    for (let index = 0; index < 10; index++) {
      costs.push(await cpuMsOf(async () => ({ text } = await route.answer(new URLSearchParams()))));
      expect(text.length).toBeLessThan(200_000);
    }
    expect(Math.min(...costs)).toBeLessThan(20);
  });
});
