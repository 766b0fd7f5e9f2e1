import { describe, expect, it } from 'vitest';
import { Builders } from '../../test/builders/builders.ts';
import { Cluster } from './cluster.ts';

function clusterWithNode(): { build: Builders; cluster: Cluster } {
  const build = new Builders();
  const cluster = new Cluster(build.resources);
  cluster.setNode(build.projectedNode({ name: 'a', cpu: 4 }));
  return { build, cluster };
}

describe('a transaction', () => {
  it('is one at a time, and closes once', () => {
    const { cluster } = clusterWithNode();
    const transaction = cluster.begin();
    expect(() => cluster.begin()).toThrow('already open');
    transaction.commit();
    expect(() => transaction.rollback()).toThrow('closed');
    transaction.abandon();
    cluster.begin().rollback();
  });

  it('refuses to assume a pod twice, and the first assumption stays', () => {
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

  it('takes a pod out once, however often it is told to', () => {
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

  it('puts a pod back on a node that only this pod named', () => {
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

  it('leaves no trace of a member that the API never showed', () => {
    const { build, cluster } = clusterWithNode();
    const transaction = cluster.begin();
    transaction.assume(build.projectedPod({ group: 'red' }), cluster.node('a')!);
    expect(cluster.gang('default/red')!.counted).toBe(1);
    transaction.rollback();
    expect(cluster.gang('default/red')).toBeUndefined();
  });

  it('undoes itself when it is abandoned open', () => {
    const { build, cluster } = clusterWithNode();
    const pod = build.projectedPod({ cpu: 1 });
    cluster.setPod(pod);
    const transaction = cluster.begin();
    transaction.assume(pod, cluster.node('a')!);
    transaction.abandon();
    expect(cluster.assumedCount).toBe(0);
  });
});

describe('a committed assumption', () => {
  it('survives a change that is merely older than the Binding', () => {
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

  it('gives its room back when the pod turns out to be on another node', () => {
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
