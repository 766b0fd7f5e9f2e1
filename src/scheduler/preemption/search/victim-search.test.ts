import { describe, expect, it } from 'vitest';
import type { PodOptions } from '../../../testkit/builders/pod.ts';
import { seededRandom } from '../../../base/random.ts';
import { Status } from '../../../framework/status.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { Queueing } from '../../../testkit/queueing.ts';

const low = 0;
const high = 1000;

/** A cluster of nodes with 4 cpu unless the test says otherwise. */
class Preempting extends Queueing {
  constructor(nodes: Readonly<Record<string, number>>) {
    super({ plugins: defaultPlugins });
    for (const [name, cpu] of Object.entries(nodes)) this.node({ name, cpu });
  }

  /** Adds a running pod of low priority with 1 cpu. */
  running(name: string, nodeName: string, options: PodOptions = {}): void {
    this.pod({ name, cpu: 1, priority: low, nodeName, ...options });
  }

  /** Adds a pod of high priority, makes an attempt, and returns the names of the evicted pods. */
  preempt(options: PodOptions = {}): readonly string[] {
    this.pod({ name: 'x', cpu: 1, priority: high, ...options });
    return this.evictedIn(() => this.harness.core.attempt());
  }

  /** Adds a gang of high priority, makes an attempt, and returns the names of the evicted pods. */
  preemptGang(members: number, minMember: number, options: PodOptions = {}): readonly string[] {
    this.group({ name: 'x', minMember });
    this.members(members, { group: 'x', cpu: 1, priority: high, ...options });
    return this.evictedIn(() => this.harness.core.attempt());
  }

  evictedIn(act: () => void): readonly string[] {
    const before = this.harness.preempted.length;
    act();
    return this.harness.preempted
      .slice(before)
      .map((text) => text.split(' ')[0]!)
      .sort();
  }

  get verdict(): string {
    const pod = [...this.harness.cluster.pods()].find(({ priority, nodeName }) => priority === high && nodeName === '');
    return this.harness.core.verdictOf(pod!.uid)!.message;
  }
}

function started(second: number): PodOptions {
  return { status: { startTime: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString() } };
}

describe('victims of a pod', () => {
  it('PE1 - is the newest surplus member of a gang', () => {
    const core = new Preempting({ a: 4 });
    core.group({ name: 'low', minMember: 2 });
    for (let i = 0; i < 4; i++) core.running(`low-${i}`, 'a', { group: 'low', ...started(i) });
    expect(core.preempt()).toEqual(['low-3']);
  });

  it('PE2 - are all members of a gang without surplus', () => {
    const core = new Preempting({ a: 4 });
    core.group({ name: 'low', minMember: 4 });
    for (let i = 0; i < 4; i++) core.running(`low-${i}`, 'a', { group: 'low' });
    expect(core.preempt()).toEqual(['low-0', 'low-1', 'low-2', 'low-3']);
  });

  it('PE3 - are all members on all nodes', () => {
    const core = new Preempting({ a: 2, b: 2 });
    core.group({ name: 'low', minMember: 3 });
    for (const [i, node] of ['a', 'a', 'b', 'b'].entries()) core.running(`low-${i}`, node, { group: 'low' });
    expect(core.preempt({ cpu: 2 })).toEqual(['low-0', 'low-1', 'low-2', 'low-3']);
  });

  it('PE10 - are no more than necessary', () => {
    const core = new Preempting({ a: 4 });
    for (let i = 0; i < 4; i++) core.running(`low-${i}`, 'a', started(i));
    expect(core.preempt()).toEqual(['low-3']);
  });

  it('PE30 - are none if terminating pods suffice', () => {
    const core = new Preempting({ a: 1, b: 1 });
    core.running('ending', 'a', { deleting: true, priority: 5000 });
    core.running('low', 'b');
    expect(core.preempt()).toEqual([]);
    expect(core.harness.cluster.reservationOf('x')?.nodeName).toBe('a');
  });

  it('are found beside a terminating pod on another node, for which the entity has to wait', () => {
    const core = new Preempting({});
    for (const name of ['a', 'b']) core.node({ name, cpu: name === 'a' ? 2 : 1, labels: { zone: 'z' } });
    core.running('low', 'a', { cpu: 2 });
    core.running('ending', 'b', { deleting: true, priority: 5000, labels: { app: 'apart' } });
    const podAntiAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app: 'apart' } }, topologyKey: 'zone' },
      ],
    };
    expect(core.preempt({ cpu: 2, spec: { affinity: { podAntiAffinity } } })).toEqual(['low']);
  });

  it('PE31 - are pods that its anti-affinity excludes', () => {
    const core = new Preempting({ a: 4 });
    core.running('low', 'a', { labels: { app: 'low' } });
    const podAntiAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app: 'low' } }, topologyKey: 'kubernetes.io/hostname' },
      ],
    };
    core.node({ name: 'a', cpu: 4, labels: { 'kubernetes.io/hostname': 'a' } });
    expect(core.preempt({ spec: { affinity: { podAntiAffinity } } })).toEqual(['low']);
  });

  it('PE31 - are pods whose anti-affinity excludes it', () => {
    const core = new Preempting({ a: 4 });
    const podAntiAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app: 'x' } }, topologyKey: 'kubernetes.io/hostname' },
      ],
    };
    core.running('low', 'a', { spec: { affinity: { podAntiAffinity } } });
    core.running('other', 'a');
    expect(core.preempt({ labels: { app: 'x' } })).toEqual(['low']);
  });

  it('PE32 - are never pods to which it has a required affinity', () => {
    const core = new Preempting({});
    core.node({ name: 'a', cpu: 1, labels: { 'kubernetes.io/hostname': 'a' } });
    core.running('low', 'a', { labels: { app: 'low' } });
    const podAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app: 'low' } }, topologyKey: 'kubernetes.io/hostname' },
      ],
    };
    expect(core.preempt({ spec: { affinity: { podAffinity } } })).toEqual([]);
  });

  it.each([
    [0, 10],
    [10, 0],
  ])(
    'are found where it has an affinity to a pod of lower priority that stays (%d there, %d elsewhere)',
    (there, elsewhere) => {
      const core = new Preempting({});
      for (const [name, zone] of Object.entries({ a: 'z1', b: 'z1', c: 'z2' }))
        core.node({ name, cpu: 1, labels: { zone } });
      core.running('there', 'a', { priority: there });
      core.running('wanted', 'b', { priority: 20, labels: { app: 'wanted' } });
      core.running('elsewhere', 'c', { priority: elsewhere });
      const podAffinity = {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchLabels: { app: 'wanted' } }, topologyKey: 'zone' },
        ],
      };
      expect(core.preempt({ spec: { affinity: { podAffinity } } })).toEqual(['there']);
    },
  );

  it('PE33 - are not DaemonSet pods if others of equal priority would do', () => {
    const core = new Preempting({ a: 2 });
    const { template, ...rest } = core.harness.build.projectedPod({
      name: 'daemon',
      uid: 'daemon',
      cpu: 1,
      nodeName: 'a',
    });
    core.show({ ...rest, template: { ...template, isOfDaemonSet: true } });
    core.running('lone', 'a');
    expect(core.preempt()).toEqual(['lone']);
  });

  it('are never pods of equal priority', () => {
    const core = new Preempting({ a: 1 });
    core.running('equal', 'a', { priority: high });
    expect(core.preempt()).toEqual([]);
    expect(core.verdict).toContain(
      'preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
    );
  });

  it('occupy a host port that it needs', () => {
    const core = new Preempting({ a: 4 });
    core.running('low', 'a', { hostPorts: [80] });
    core.running('other', 'a');
    expect(core.preempt({ hostPorts: [80] })).toEqual(['low']);
  });

  it('have the lowest possible priority', () => {
    const core = new Preempting({ a: 1, b: 1, c: 1 });
    core.running('p5', 'a', { priority: 5 });
    core.running('p1', 'b', { priority: 1 });
    core.running('p3', 'c', { priority: 3 });
    expect(core.preempt()).toEqual(['p1']);
  });
});

describe('victims of a gang', () => {
  it('PE4 - are single pods rather than a gang', () => {
    const core = new Preempting({ a: 4, b: 4 });
    core.group({ name: 'low', minMember: 4 });
    for (const [i, node] of ['a', 'a', 'b', 'b'].entries()) core.running(`low-${i}`, node, { group: 'low' });
    for (const name of ['lone-0', 'lone-1']) core.running(name, 'a');
    for (const name of ['high-0', 'high-1']) core.running(name, 'b', { priority: high });
    expect(core.preemptGang(2, 2)).toEqual(['lone-0', 'lone-1']);
  });

  it('PE5 - are never pods of equal priority', () => {
    const core = new Preempting({ a: 2 });
    for (const name of ['equal-0', 'equal-1']) core.running(name, 'a', { priority: high });
    expect(core.preemptGang(2, 2)).toEqual([]);
    expect(core.verdict).toContain('preemption: no pods of lower priority.');
  });

  it('PE6 - are none if a member never preempts', () => {
    const core = new Preempting({ a: 2 });
    for (const name of ['low-0', 'low-1']) core.running(name, 'a');
    core.group({ name: 'x', minMember: 2 });
    core.pod({ name: 'x-0', group: 'x', cpu: 1, priority: high });
    core.pod({ name: 'x-1', group: 'x', cpu: 1, priority: high, spec: { preemptionPolicy: 'Never' } });
    expect(core.evictedIn(() => core.harness.core.attempt())).toEqual([]);
    expect(core.verdict).toContain('preemption: not eligible due to preemptionPolicy=Never.');
  });

  it('PE7 - are none if the gang would not fit even without them', () => {
    const core = new Preempting({ a: 5 });
    for (let i = 0; i < 5; i++) core.running(`low-${i}`, 'a');
    expect(core.preemptGang(8, 8)).toEqual([]);
    expect(core.verdict).toContain(
      'preemption: not helpful: 5 of 8 members fit even with 5 pods of lower priority gone.',
    );
  });

  it('are none on nodes where evicting all pods of lower priority makes too little capacity free', () => {
    const core = new Preempting({ a: 2, b: 2 });
    for (const node of ['a', 'b']) core.running(`high-${node}`, node, { priority: high });
    core.running('static', 'a', { annotations: { 'kubernetes.io/config.source': 'file' } });
    core.running('low', 'b');
    expect(core.preemptGang(1, 1, { cpu: 2 })).toEqual([]);
    // Not that it would need the static pod.
    expect(core.verdict).toContain(
      'preemption: not helpful: 0 of 1 members fit even with 2 pods of lower priority gone.',
    );
  });

  it('PE9 - are not needed where capacity is free', () => {
    const core = new Preempting({ a: 2, b: 2 });
    core.running('low', 'b');
    core.running('high', 'b', { priority: high });
    expect(core.preemptGang(3, 3)).toEqual(['low']);
    const nodes = ['x-0', 'x-1', 'x-2'].map((uid) => core.harness.cluster.reservationOf(uid)?.nodeName);
    expect(nodes.sort()).toEqual(['a', 'a', 'b']);
  });

  it('PE11 - are one large gang rather than several smaller ones', () => {
    const nodes = Array.from({ length: 14 }, (_, i) => `n${i}`);
    const core = new Preempting(Object.fromEntries(nodes.map((name) => [name, 1])));
    let next = 0;
    for (const size of [2, 4, 8]) {
      core.group({ name: `g${size}`, minMember: size });
      for (let i = 0; i < size; i++) core.running(`g${size}-${i}`, nodes[next++]!, { group: `g${size}` });
    }
    expect(core.preemptGang(8, 8)).toEqual(Array.from({ length: 8 }, (_, i) => `g8-${i}`));
  });

  it('PE12 - include a pod that only uses another resource', () => {
    const core = new Preempting({});
    core.node({ name: 'a', cpu: 2, allocatable: { 'example.com/gpu': 2 } });
    core.running('low', 'a', { cpu: 2 });
    expect(core.preemptGang(2, 2, { requests: { 'example.com/gpu': 1 } })).toEqual(['low']);
  });

  it('PE35 - are neither the surplus nor the quorum of a gang whose highest priority is higher, beyond its surplus', () => {
    const core = new Preempting({ a: 2 });
    core.group({ name: 'mixed', minMember: 2 });
    core.running('mixed-0', 'a', { group: 'mixed', priority: 10 });
    core.running('mixed-1', 'a', { group: 'mixed', priority: 5000 });
    expect(core.preempt()).toEqual([]);
  });

  it('are found for a gang of many kinds', () => {
    const core = new Preempting(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`n${i}`, 1])));
    for (let i = 0; i < 40; i++) core.running(`low-${i}`, `n${i}`);
    core.group({ name: 'x', minMember: 40 });
    for (let i = 0; i < 40; i++) core.pod({ name: `x-${i}`, group: 'x', cpu: `${900 + i}m`, priority: high });
    expect(core.evictedIn(() => core.harness.core.attempt())).toHaveLength(40);
  });

  it('are none for a gang of many kinds that would not fit even without them', () => {
    const core = new Preempting(Object.fromEntries(Array.from({ length: 39 }, (_, i) => [`n${i}`, 1])));
    for (let i = 0; i < 39; i++) core.running(`low-${i}`, `n${i}`);
    core.group({ name: 'x', minMember: 40 });
    for (let i = 0; i < 40; i++) core.pod({ name: `x-${i}`, group: 'x', cpu: `${900 + i}m`, priority: high });
    expect(core.evictedIn(() => core.harness.core.attempt())).toEqual([]);
    expect(core.verdict).toContain('not helpful: 39 of 40 members fit even with 39 pods of lower priority gone.');
  });

  it.each([
    [100, 1000],
    [1000, 100],
  ])('are found if only some members must respect a reservation (priorities %d and %d)', (...priorities) => {
    const core = new Preempting({ a: 1, b: 1 });
    core.running('low', 'a');
    core.pod({ name: 'other', cpu: 1, priority: 500, nominatedNodeName: 'b', schedulerName: 'other' });
    core.group({ name: 'x', minMember: 2 });
    for (const [i, priority] of priorities.entries()) core.pod({ name: `x-${i}`, group: 'x', cpu: 1, priority });
    expect(core.evictedIn(() => core.harness.core.attempt())).toEqual(['low']);
  });

  it('have the lowest possible priority if the members are of several kinds', () => {
    const core = new Preempting({});
    for (const [name, cpu, memory] of [
      ['a', '1', '2Gi'],
      ['b', '4500m', '8Gi'],
      ['c', '1', '2Gi'],
      ['d', '2', '6Gi'],
    ] as const)
      core.node({ name, cpu, memory });
    for (const [i, minMember] of [1, 1, 1, 2].entries()) core.group({ name: `g${i}`, minMember });
    for (const [i, [nodeName, cpu, memory, priority, group]] of (
      [
        ['d', '500m', '1Gi', 0, 'g0'],
        ['b', '500m', '1Gi', 0, undefined],
        ['c', '500m', '1Gi', 10, undefined],
        ['b', '500m', '3Gi', 0, 'g1'],
        ['d', '500m', '3Gi', 0, 'g1'],
        ['d', '1', '1Gi', 70, 'g1'],
        ['b', '1', '1Gi', 10, 'g2'],
        ['b', '1500m', '1Gi', 20, 'g3'],
      ] as const
    ).entries())
      core.running(`p${i}`, nodeName, { cpu, memory, priority, ...(group && { group }), ...started(i) });
    core.group({ name: 'x', minMember: 3 });
    for (const [i, [cpu, memory]] of (
      [
        ['500m', '3Gi'],
        ['1', '4Gi'],
        ['500m', '3Gi'],
      ] as const
    ).entries())
      core.pod({ name: `x-${i}`, group: 'x', cpu, memory, priority: i === 1 ? 50 : 60 });
    expect(core.evictedIn(() => core.harness.core.attempt())).toEqual(['p0', 'p1', 'p3', 'p4']);
  });

  it('PE36 - are none for surplus members', () => {
    const core = new Preempting({ a: 2, b: 1 });
    core.running('low', 'b');
    expect(core.preemptGang(3, 2)).toEqual([]);
  });

  it('are none if terminating members of its own group make way', () => {
    const core = new Preempting({ a: 2, b: 2 });
    for (const i of [0, 1]) core.running(`old-${i}`, 'a', { group: 'x', priority: high, deleting: true });
    for (const i of [0, 1]) core.running(`low-${i}`, 'b');
    expect(core.preemptGang(2, 2)).toEqual([]);
    expect(['x-0', 'x-1'].map((uid) => core.harness.cluster.reservationOf(uid)?.nodeName)).toEqual(['a', 'a']);
  });

  it('are not in vain if a later victim frees enough for all members', () => {
    const core = new Preempting({ a: 4, b: 8 });
    core.running('small', 'a', { cpu: 4, ...started(1) });
    core.running('large', 'b', { cpu: 8, ...started(0) });
    expect(core.preemptGang(6, 6)).toEqual(['large']);
  });

  it('are only the surplus of a gang although its least important members do not suffice', () => {
    const core = new Preempting({ a: 4 });
    core.group({ name: 'low', minMember: 2 });
    core.running('low-0', 'a', { group: 'low', cpu: 2, ...started(0) });
    for (const i of [1, 2]) core.running(`low-${i}`, 'a', { group: 'low', ...started(i) });
    expect(core.preemptGang(2, 2)).toEqual(['low-0']);
  });
});

describe('a search with a plugin that answers differently from call to call', () => {
  it.each([0.1, 0.2, 0.4])('leaves all pods on their nodes (rejecting a share of %d)', (share) => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = seededRandom(seed);
      const filter = (): Status | undefined => (random() < share ? new Status('Unschedulable', 'unsteady') : undefined);
      const extra = [{ name: 'Unsteady', sign: (): string => '', filter }];
      const core = new Queueing({ plugins: defaultPlugins, extra });
      core.node({ name: 'a', cpu: 8 });
      for (let i = 0; i < 8; i++) core.pod({ name: `low-${i}`, cpu: 1, priority: 10 * i, nodeName: 'a' });
      core.group({ name: 'x', minMember: 3 });
      for (const [i, cpu] of [1, 2, 2].entries()) core.pod({ name: `x-${i}`, group: 'x', cpu, priority: high });
      core.harness.core.attempt();
      expect(core.harness.cluster.node('a')!.pods.size).toBe(8);
    }
  });
});
