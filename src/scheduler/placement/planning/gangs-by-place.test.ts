import { describe, expect, it } from 'vitest';
import type { PodAffinityRules, TopologySpreadConstraint } from '../../../api/pod.ts';
import { TestScheduler } from '../../../testkit/test-scheduler.ts';

const zone = 'topology.kubernetes.io/zone';
const hostname = 'kubernetes.io/hostname';

const beside = (labels: Record<string, string>, topologyKey: string): PodAffinityRules => ({
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: { matchLabels: labels }, topologyKey }],
  },
});
const apart = (labels: Record<string, string>, topologyKey: string): PodAffinityRules => ({
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: { matchLabels: labels }, topologyKey }],
  },
});

/** Creates nodes with this `cpu` by zone: { a: [4, 2] } creates the nodes a-0 and a-1. */
function clusterOf(zones: Readonly<Record<string, readonly number[]>>): TestScheduler {
  const scheduler = new TestScheduler();
  for (const [name, sizes] of Object.entries(zones)) {
    sizes.forEach((cpu, i) => {
      scheduler.setNode({ name: `${name}-${i}`, cpu, labels: { [zone]: name, [hostname]: `${name}-${i}` } });
    });
  }
  return scheduler;
}

/** Returns the nodes to which the pods are bound, in the order of `names`. */
async function nodesOf(scheduler: TestScheduler, names: readonly string[]): Promise<readonly string[]> {
  await scheduler.run();
  return names.map((name) => {
    const state = scheduler.stateOf(name);
    return state.kind === 'bound' ? state.nodeName : state.kind;
  });
}

const members = (name: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${name}-${i}`);
const zonesOf = (nodes: readonly string[]): readonly string[] => [...new Set(nodes.map((name) => name.split('-')[0]!))];

describe('a gang whose members need the same zone', () => {
  const job = (scheduler: TestScheduler, count: number): void => {
    scheduler.setGroup({ name: 'job', minMember: count });
    scheduler.setPods(count, {
      name: 'job',
      group: 'job',
      labels: { job: 'x' },
      cpu: 1,
      spec: { affinity: beside({ job: 'x' }, zone) },
    });
  };

  it('is planned as a whole: the first member may go anywhere, and the others join it', async () => {
    const scheduler = clusterOf({ a: [4, 4], b: [4, 4] });
    job(scheduler, 6);
    const nodes = await nodesOf(scheduler, members('job', 6));
    expect(zonesOf(nodes)).toHaveLength(1);
  });

  it('finds the only zone with capacity for all members, though the emptiest node is in another zone', async () => {
    const scheduler = clusterOf({ a: [5], b: [2, 2, 2], c: [3, 1] });
    job(scheduler, 6);
    expect(zonesOf(await nodesOf(scheduler, members('job', 6)))).toEqual(['b']);
  });

  it('may leave out the largest member, in the only zone that has capacity for the others', async () => {
    const scheduler = new TestScheduler();
    const taints = [{ key: 'slow', value: '', effect: 'PreferNoSchedule' as const }];
    scheduler.setNode({ name: 'a-0', cpu: 6, labels: { [zone]: 'a' }, taints });
    scheduler.setNode({ name: 'b-0', cpu: 4, labels: { [zone]: 'b' } });
    scheduler.setGroup({ name: 'job', minMember: 3 });
    for (const [name, cpu] of Object.entries({ tiny: 1, small: 2, medium: 2, large: 6 })) {
      scheduler.setPod({
        name,
        group: 'job',
        labels: { job: 'x' },
        cpu,
        spec: { affinity: beside({ job: 'x' }, zone) },
      });
    }
    expect(await nodesOf(scheduler, ['tiny', 'small', 'medium'])).toEqual(['a-0', 'a-0', 'a-0']);
  });

  it('finds that zone even if the pass before it used some of its capacity', async () => {
    const scheduler = clusterOf({ a: [2, 2, 2, 2], b: [4] });
    scheduler.setGroup({ name: 'job', minMember: 4 });
    const spec = { affinity: beside({ job: 'x' }, zone) };
    scheduler.setPods(3, { name: 'job', group: 'job', cpu: 2, labels: { job: 'x' }, spec });
    // This pod fits on the fewest nodes, so it goes first. The others prefer the largest node.
    scheduler.setPod({ name: 'data', group: 'job', cpu: 2, nodeSelector: { [zone]: 'a' } });
    expect(zonesOf(await nodesOf(scheduler, [...members('job', 3), 'data']))).toEqual(['a']);
  });

  it('goes to the zone where a matching pod already runs', async () => {
    const scheduler = clusterOf({ a: [8, 8], b: [4] });
    scheduler.setPod({ name: 'older', labels: { job: 'x' }, nodeName: 'b-0' });
    job(scheduler, 3);
    expect(zonesOf(await nodesOf(scheduler, members('job', 3)))).toEqual(['b']);
  });

  it('is rejected as a whole with the reasons if no zone has capacity for all members', async () => {
    const scheduler = clusterOf({ a: [3, 2], b: [2, 2] });
    job(scheduler, 6);
    await scheduler.run();
    const state = scheduler.stateOf('job-0');
    expect(state.kind).not.toBe('bound');
    expect(JSON.stringify(state)).toMatch(/didn't match pod affinity rules/);
    expect(JSON.stringify(state)).toMatch(/Insufficient cpu/);
  });

  it('starts as soon as a new node makes one zone large enough', async () => {
    const scheduler = clusterOf({ a: [3, 2], b: [2, 2] });
    job(scheduler, 6);
    await scheduler.run();
    scheduler.setNode({ name: 'b-2', cpu: 2, labels: { [zone]: 'b', [hostname]: 'b-2' } });
    await scheduler.advance(2_000);
    expect(zonesOf(await nodesOf(scheduler, members('job', 6)))).toEqual(['b']);
  });
});

describe('a gang with anti-affinity between its members', () => {
  const job = (scheduler: TestScheduler, count: number, key: string): void => {
    scheduler.setGroup({ name: 'job', minMember: count });
    scheduler.setPods(count, {
      name: 'job',
      group: 'job',
      labels: { job: 'x' },
      spec: { affinity: apart({ job: 'x' }, key) },
    });
  };

  it('gets one node per member', async () => {
    const scheduler = clusterOf({ a: [4, 4], b: [4, 4] });
    job(scheduler, 4, hostname);
    expect([...(await nodesOf(scheduler, members('job', 4)))].sort()).toEqual(['a-0', 'a-1', 'b-0', 'b-1']);
  });

  it('is rejected as a whole with the reason if there are too few nodes', async () => {
    const scheduler = clusterOf({ a: [4, 4], b: [4] });
    job(scheduler, 4, hostname);
    await scheduler.run();
    expect(JSON.stringify(scheduler.stateOf('job-0'))).toMatch(/3 node\(s\) didn't match pod anti-affinity rules/);
    scheduler.setNode({ name: 'b-1', cpu: 1, labels: { [zone]: 'b', [hostname]: 'b-1' } });
    await scheduler.advance(2_000);
    expect([...(await nodesOf(scheduler, members('job', 4)))].sort()).toEqual(['a-0', 'a-1', 'b-0', 'b-1']);
  });

  it('keeps matching pods off its node, and stays off nodes whose pods reject it', async () => {
    const scheduler = clusterOf({ a: [4], b: [4] });
    scheduler.setPod({
      name: 'hermit',
      labels: {},
      nodeName: 'a-0',
      spec: { affinity: apart({ job: 'x' }, hostname) },
    });
    job(scheduler, 1, hostname);
    scheduler.setPod({ name: 'plain', labels: { job: 'x' } });
    await scheduler.run();
    expect(await nodesOf(scheduler, ['job-0'])).toEqual(['b-0']);
    expect(JSON.stringify(scheduler.stateOf('plain'))).toMatch(
      /2 node\(s\) didn't satisfy existing pods anti-affinity rules/,
    );
    scheduler.removePod('hermit');
    await scheduler.advance(2_000);
    expect(await nodesOf(scheduler, ['plain'])).toEqual(['a-0']);
  });
});

describe('a worker that needs the same zone as its leader', () => {
  const job = (scheduler: TestScheduler, workers: number): void => {
    scheduler.setGroup({ name: 'job', minMember: workers + 1 });
    scheduler.setPods(workers, {
      name: 'worker',
      group: 'job',
      labels: { role: 'worker' },
      cpu: 1,
      spec: { affinity: beside({ role: 'leader' }, zone) },
    });
    scheduler.setPod({ name: 'leader', group: 'job', labels: { role: 'leader' }, cpu: 1 });
  };

  it('is planned with the leader in a zone with capacity for both', async () => {
    const scheduler = clusterOf({ a: [6], b: [2, 2, 1], c: [2] });
    scheduler.setPod({ name: 'filler', cpu: 2, nodeName: 'a-0' });
    job(scheduler, 4);
    const nodes = await nodesOf(scheduler, [...members('worker', 4), 'leader']);
    expect(zonesOf(nodes)).toEqual(['b']);
  });

  it('is rejected with the leader if no zone has the capacity, with the affinity as a reason', async () => {
    const scheduler = clusterOf({ a: [2], b: [2], c: [1] });
    job(scheduler, 4);
    await scheduler.run();
    expect(JSON.stringify(scheduler.stateOf('leader'))).toMatch(/didn't match pod affinity rules/);
    expect(scheduler.stateOf('worker-0').kind).not.toBe('bound');
  });
});

describe('a gang with topology spread constraints', () => {
  const spread = (maxSkew: number, key: string): readonly TopologySpreadConstraint[] => [
    { maxSkew, topologyKey: key, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { job: 'x' } } },
  ];

  it('over zones is spread evenly to the last member', async () => {
    const scheduler = clusterOf({ a: [32], b: [32], c: [32] });
    scheduler.setGroup({ name: 'job', minMember: 10 });
    scheduler.setPods(10, {
      name: 'job',
      group: 'job',
      labels: { job: 'x' },
      spec: { topologySpreadConstraints: spread(1, zone) },
    });
    const nodes = await nodesOf(scheduler, members('job', 10));
    const counts = Map.groupBy(nodes, (name) => name);
    expect([...counts.values()].map((names) => names.length).sort()).toEqual([3, 3, 4]);
  });

  it('is rejected as a whole if a zone without capacity limits the others', async () => {
    const scheduler = clusterOf({ a: [8], b: [1] });
    scheduler.setGroup({ name: 'job', minMember: 4 });
    scheduler.setPods(4, {
      name: 'job',
      group: 'job',
      labels: { job: 'x' },
      cpu: 1,
      spec: { topologySpreadConstraints: spread(1, zone) },
    });
    await scheduler.run();
    expect(JSON.stringify(scheduler.stateOf('job-0'))).toMatch(/didn't match pod topology spread constraints/);
    scheduler.setNode({ name: 'b-0', cpu: 4, labels: { [zone]: 'b', [hostname]: 'b-0' } });
    await scheduler.advance(2_000);
    expect(zonesOf(await nodesOf(scheduler, members('job', 4))).toSorted()).toEqual(['a', 'b']);
  });
});
