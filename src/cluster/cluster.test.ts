import { expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { Cluster } from './cluster.ts';

it('keeps a pod assumed on a deleted node when its requests change', () => {
  const build = new Builders();
  const cluster = new Cluster(build.resources);
  const assumed = build.projectedPod({ name: 'assumed', uid: 'assumed', cpu: 1 });
  cluster.setNode(build.projectedNode({ name: 'a', cpu: 4 }));
  cluster.setPod(assumed);
  const transaction = cluster.begin();
  transaction.assume(assumed, cluster.node('a')!);
  transaction.commit();
  cluster.removeNode('a');
  cluster.setPod(build.projectedPod({ name: 'assumed', uid: 'assumed', cpu: 2 }));
  cluster.setPod(build.projectedPod({ name: 'bound', cpu: 1, nodeName: 'a' }));
  cluster.setNode(build.projectedNode({ name: 'a', cpu: 4 }));
  expect([...cluster.node('a')!.pods.values()].map(({ name }) => name).sort()).toEqual(['assumed', 'bound']);
  expect(cluster.node('a')!.free(0)).toBe(1000);
});

it('caches a limited number of topologies, because pods may name any label', () => {
  const build = new Builders();
  const cluster = new Cluster(build.resources);
  cluster.setNode(build.projectedNode({ name: 'a', labels: { zone: 'z' } }));
  const zone = cluster.topology('zone');
  for (let i = 0; i < 10; i++) cluster.topology(`made-up-${i}`);
  expect(cluster.topology('zone')).toBe(zone);
  for (let i = 0; i < 1_000; i++) cluster.topology(`made-up-${i}`);
  expect(cluster.topology('zone')).not.toBe(zone);
  expect(cluster.topology('zone')).toEqual(zone);
});
