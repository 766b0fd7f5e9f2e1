import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { Cluster } from './cluster.ts';
import type { Gang } from './gang.ts';
import type { MemberState } from './gang-view.ts';

function clusterWithNode(): { build: Builders; cluster: Cluster } {
  const build = new Builders();
  const cluster = new Cluster(build.resources);
  cluster.setNode(build.projectedNode({ name: 'a', cpu: 4 }));
  return { build, cluster };
}

describe('a transaction', () => {
  it('is the only open one, and closes once', () => {
    const { cluster } = clusterWithNode();
    const transaction = cluster.begin();
    expect(() => cluster.begin()).toThrow('already open');
    transaction.commit();
    expect(() => transaction.rollback()).toThrow('closed');
    transaction.abandon();
    cluster.begin().rollback();
  });

  it('throws when a pod is assumed twice, and keeps the first assumption', () => {
    const { build, cluster } = clusterWithNode();
    const pod = build.projectedPod({ name: 'x', cpu: 1 });
    cluster.setPod(pod);
    const transaction = cluster.begin();
    transaction.assume(pod, cluster.node('a')!);
    const savepoint = transaction.savepoint();
    expect(() => transaction.assume(pod, cluster.node('a')!)).toThrow('default/x is already assumed');
    transaction.rollbackTo(savepoint);
    expect(cluster.isAssumed(pod.uid)).toBe(true);
    expect(cluster.node('a')!.free(0)).toBe(3000);
    transaction.rollback();
    expect(cluster.node('a')!.free(0)).toBe(4000);
  });

  it('takes a pod out only once', () => {
    const { build, cluster } = clusterWithNode();
    const pod = build.projectedPod({ cpu: 1, nodeName: 'a' });
    cluster.setPod(pod);
    const transaction = cluster.begin();
    transaction.takeOut([pod]);
    transaction.takeOut([pod]);
    expect(cluster.node('a')!.free(0)).toBe(4000);
    transaction.rollback();
    expect(cluster.node('a')!.free(0)).toBe(3000);
  });

  it('restores a pod on an unknown node that only this pod refers to', () => {
    const { build, cluster } = clusterWithNode();
    const pod = build.projectedPod({ cpu: 1, nodeName: 'not-seen-yet' });
    cluster.setPod(pod);
    const node = cluster.nodeOf(pod)!;
    const transaction = cluster.begin();
    transaction.takeOut([pod]);
    transaction.rollback();
    expect(cluster.nodeOf(pod)).toBe(node);
    cluster.setNode(build.projectedNode({ name: 'not-seen-yet', cpu: 2 }));
    expect(cluster.node('not-seen-yet')!.free(0)).toBe(1000);
  });

  it('leaves no trace of a member that is not in the API server', () => {
    const { build, cluster } = clusterWithNode();
    const transaction = cluster.begin();
    transaction.assume(build.projectedPod({ group: 'red' }), cluster.node('a')!);
    expect(cluster.gang('default/red')!.counted).toBe(1);
    transaction.rollback();
    expect(cluster.gang('default/red')).toBeUndefined();
  });

  it('rolls back when it is abandoned while open', () => {
    const { build, cluster } = clusterWithNode();
    const pod = build.projectedPod({ cpu: 1 });
    cluster.setPod(pod);
    const transaction = cluster.begin();
    transaction.assume(pod, cluster.node('a')!);
    transaction.abandon();
    expect(cluster.assumedCount).toBe(0);
  });
});

describe('a gang taken out', () => {
  /** Nodes a and b; gang red of 3: `red-0` and `red-1` on a, `red-2` on b, `red-3` pending; a single pod on a. */
  function gangOnNodes(): { build: Builders; cluster: Cluster; red: Gang } {
    const { build, cluster } = clusterWithNode();
    cluster.setNode(build.projectedNode({ name: 'b', cpu: 4 }));
    cluster.setGang({
      source: 'scheduling.x-k8s.io',
      uid: 'red',
      key: 'default/red',
      creationTimestamp: 0,
      minMember: 3,
      minResources: undefined,
      scheduleTimeoutSeconds: undefined,
      confirmsStart: true,
      releases: false,
      repairGraceMs: 60_000,
      startedSince: undefined,
      startsAnew: false,
    });
    const nodeNames = ['a', 'a', 'b', ''];
    nodeNames.forEach((nodeName, i) => {
      const name = `red-${i}`;
      const bound = nodeName === '' ? {} : { nodeName };
      cluster.setPod(build.projectedPod({ name, uid: name, group: 'red', cpu: 1, hostPorts: [80 + i], ...bound }));
    });
    cluster.setPod(build.projectedPod({ name: 'other', uid: 'other', cpu: 1, nodeName: 'a' }));
    return { build, cluster, red: cluster.gang('default/red')! };
  }

  /** Returns everything that a rollback must restore. */
  function snapshotOf(cluster: Cluster, red: Gang): unknown {
    return {
      nodes: cluster.nodes.map(({ name, generation, requested, pods, hostPorts }) => {
        return { name, generation, requested: requested.entries(), pods: [...pods.keys()], hostPorts: [...hostPorts] };
      }),
      counts: countsOf(red),
      states: [...red.members.keys()].map((uid) => red.stateOf(uid)),
      order: red.order,
      quorum: [red.counted, red.missing, red.started, red.incomplete],
    };
  }

  function countsOf(gang: Gang): Partial<Record<MemberState, number>> {
    const states = ['pending', 'gated', 'planned', 'bound', 'succeeded', 'failed', 'leaving'] as const;
    return Object.fromEntries(states.map((state) => [state, gang.count(state)]).filter(([, count]) => count !== 0));
  }

  it('frees all its capacity, and none of its members counts toward its quorum', () => {
    const { cluster, red } = gangOnNodes();
    const transaction = cluster.begin();
    transaction.takeOut(red.members.values());
    expect(cluster.nodes.map((node) => node.free(0))).toEqual([3000, 4000]);
    expect(cluster.nodes.map((node) => [...node.pods.keys()])).toEqual([['other'], []]);
    expect([red.counted, red.missing]).toEqual([0, 3]);
    transaction.rollback();
  });

  it('has leaving members, except those on no node, and stays started', () => {
    const { cluster, red } = gangOnNodes();
    const transaction = cluster.begin();
    transaction.takeOut(red.members.values());
    expect(countsOf(red)).toEqual({ leaving: 3, pending: 1 });
    expect([...red.members.keys()]).toEqual(['red-0', 'red-1', 'red-2', 'red-3']);
    expect(red.started).toBe(true);
    transaction.rollback();
  });

  it('is restored completely: capacity, ports, orders, counts, generations', () => {
    const { cluster, red } = gangOnNodes();
    const before = snapshotOf(cluster, red);
    const transaction = cluster.begin();
    transaction.takeOut(red.members.values());
    expect(snapshotOf(cluster, red)).not.toEqual(before);
    transaction.rollback();
    expect(snapshotOf(cluster, red)).toEqual(before);
  });

  it('gives each of its nodes one new generation', () => {
    const { cluster, red } = gangOnNodes();
    const known = new Set(cluster.nodes.map(({ generation }) => generation));
    const transaction = cluster.begin();
    transaction.takeOut(red.members.values());
    const after = cluster.nodes.map(({ generation }) => generation);
    expect(after.filter((generation) => known.has(generation))).toEqual([]);
    expect(new Set(after).size).toBe(2);
    transaction.rollback();
  });

  it('still counts the members that are not taken out', () => {
    const { cluster, red } = gangOnNodes();
    const transaction = cluster.begin();
    transaction.takeOut([red.members.get('red-1')!]);
    expect([countsOf(red), red.counted, red.missing]).toEqual([{ bound: 2, leaving: 1, pending: 1 }, 2, 1]);
    transaction.rollback();
  });

  it('is restored completely even if members were listed twice', () => {
    const { cluster, red } = gangOnNodes();
    const before = snapshotOf(cluster, red);
    const transaction = cluster.begin();
    transaction.takeOut([...red.members.values(), ...red.members.values()]);
    expect(countsOf(red)).toEqual({ leaving: 3, pending: 1 });
    transaction.rollback();
    expect(snapshotOf(cluster, red)).toEqual(before);
  });

  it('while it is being bound is restored to that state by a rollback', () => {
    const { build, cluster } = clusterWithNode();
    const [first, second] = build.projectedPods(2, { group: 'red', cpu: 1 });
    for (const pod of [first!, second!]) cluster.setPod(pod);
    const red = cluster.gang('default/red')!;
    const committed = cluster.begin();
    committed.assume(first!, cluster.node('a')!);
    committed.commit();
    const transaction = cluster.begin();
    transaction.takeOut([first!]);
    expect([countsOf(red), cluster.node('a')!.free(0)]).toEqual([{ leaving: 1, pending: 1 }, 4000]);
    transaction.rollback();
    expect([countsOf(red), cluster.node('a')!.free(0)]).toEqual([{ planned: 1, pending: 1 }, 3000]);
    expect(cluster.isAssumed(first!.uid)).toBe(true);
  });

  it('frees capacity for another that is assumed there, and a rollback undoes both', () => {
    const { build, cluster, red } = gangOnNodes();
    const blue = build.projectedPods(2, { group: 'blue', cpu: 2 });
    for (const pod of blue) cluster.setPod(pod);
    const before = snapshotOf(cluster, red);
    const transaction = cluster.begin();
    transaction.takeOut(red.members.values());
    const savepoint = transaction.savepoint();
    transaction.assume(blue[0]!, cluster.node('a')!);
    transaction.assume(blue[1]!, cluster.node('b')!);
    expect(cluster.nodes.map((node) => node.free(0))).toEqual([1000, 2000]);
    transaction.rollbackTo(savepoint);
    expect(cluster.nodes.map((node) => node.free(0))).toEqual([3000, 4000]);
    transaction.assume(blue[1]!, cluster.node('a')!);
    transaction.rollback();
    expect(snapshotOf(cluster, red)).toEqual(before);
    expect(cluster.gang('default/blue')!.order.pending).toEqual(blue.map(({ uid }) => uid));
  });

  it('after one of its members was assumed in the same transaction is restored with that member pending', () => {
    const { cluster, red } = gangOnNodes();
    const before = snapshotOf(cluster, red);
    const transaction = cluster.begin();
    transaction.assume(red.members.get('red-3')!, cluster.node('b')!);
    transaction.takeOut(red.members.values());
    expect(countsOf(red)).toEqual({ leaving: 4 });
    transaction.rollback();
    expect(snapshotOf(cluster, red)).toEqual(before);
  });
});

describe('the order of pending members', () => {
  it('is restored after any of them were assumed and rolled back', () => {
    const { build, cluster } = clusterWithNode();
    const names = ['ours', 'theirs', 'ours', 'others'];
    const members = names.map((schedulerName) => build.projectedPod({ group: 'red', schedulerName }));
    for (const pod of members) cluster.setPod(pod);
    const red = cluster.gang('default/red')!;
    const { order } = red;
    expect(order).toEqual({ pending: members.map(({ uid }) => uid), schedulerNames: ['ours', 'theirs', 'others'] });
    const transaction = cluster.begin();
    transaction.assume(members[1]!, cluster.node('a')!);
    const savepoint = transaction.savepoint();
    transaction.assume(members[0]!, cluster.node('a')!);
    transaction.assume(members[2]!, cluster.node('a')!);
    expect(red.order).toEqual({ pending: [members[3]!.uid], schedulerNames: ['others'] });
    transaction.rollbackTo(savepoint);
    transaction.rollback();
    expect(red.order).toEqual(order);
  });
});

describe('a committed assumption', () => {
  it('survives an update that is merely older than the Binding', () => {
    const { build, cluster } = clusterWithNode();
    const pod = build.projectedPod({ cpu: 1 });
    cluster.setPod(pod);
    const transaction = cluster.begin();
    transaction.assume(pod, cluster.node('a')!);
    transaction.commit();
    expect(cluster.setPod({ ...pod, labels: { seen: 'late' } })).toBe('kept');
    expect(cluster.nodeOf(pod)!.name).toBe('a');
    expect(cluster.setPod({ ...pod, nodeName: 'a' })).toBe('confirmed');
    expect(cluster.assumedCount).toBe(0);
    expect(cluster.node('a')!.free(0)).toBe(3000);
  });

  it('releases its capacity when the pod turns out to be on another node', () => {
    const { build, cluster } = clusterWithNode();
    cluster.setNode(build.projectedNode({ name: 'b', cpu: 4 }));
    const pod = build.projectedPod({ cpu: 1 });
    cluster.setPod(pod);
    const transaction = cluster.begin();
    transaction.assume(pod, cluster.node('a')!);
    transaction.commit();
    expect(cluster.setPod({ ...pod, nodeName: 'b' })).toBe('contradicted');
    expect([cluster.node('a')!.free(0), cluster.node('b')!.free(0)]).toEqual([4000, 3000]);
  });
});
