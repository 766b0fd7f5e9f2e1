import { describe, expect, it } from 'vitest';
import { collectGarbage } from '../base/testing/collect-garbage.ts';
import { Builders } from '../testkit/builders/builders.ts';
import { Cluster } from './cluster.ts';
import { Follower, heldBy } from './testing/node-assignments.ts';

interface Stage {
  readonly build: Builders;
  readonly cluster: Cluster;
  readonly nodes: readonly string[];
}

function stage(nodeCount: number): Stage {
  const build = new Builders();
  const cluster = new Cluster(build.resources);
  const nodes = Array.from({ length: nodeCount }, (_, i) => `n${i}`);
  for (const name of nodes) cluster.setNode(build.projectedNode({ name }));
  return { build, cluster, nodes };
}

/** How many of those that were seen have not been collected. */
class Living {
  count = 0;
  readonly #collected = new FinalizationRegistry<undefined>(() => this.count--);

  see(object: object): void {
    this.count++;
    this.#collected.register(object, undefined);
  }
}

/** Two pods with labels of their own are on a node for a moment. */
function comeAndGo({ build, cluster, nodes }: Stage, i: number, living: Living): void {
  const nodeName = nodes[i % nodes.length]!;
  const pods = ['a', 'b'].map((name) =>
    build.projectedPod({ name: `${name}${i}`, labels: { [`example.com/${name}${i}`]: 'v' }, nodeName }),
  );
  for (const pod of pods) cluster.setPod(pod);
  for (const { uid, labels } of pods) {
    cluster.removePod(uid);
    living.see(labels);
  }
}

describe('what is kept of pods that have left their nodes', () => {
  it('is little, however many there were, when somebody follows them', async () => {
    const on = stage(4);
    const follower = new Follower(on.cluster);
    const living = new Living();
    for (let i = 0; i < 3_000; i++) {
      if (i % 10 === 0) follower.follow();
      comeAndGo(on, i, living);
    }
    // Two changes a pod, and twice as many changes as are kept before some are forgotten.
    await collectGarbage(() => living.count <= 256);
    expect(follower.follow()).toEqual({});
  });

  it('is nothing of a node that is gone and of its pods when nobody has asked for long', async () => {
    const on = stage(1);
    new Follower(on.cluster).follow();
    const living = new Living();
    for (let i = 0; i < 1_000; i++) {
      const name = `gone-${i}`;
      const node = on.build.projectedNode({ name });
      on.cluster.setNode(node);
      living.see(node);
      comeAndGo({ ...on, nodes: [name] }, i, living);
      on.cluster.removeNode(name);
    }
    // The changes that are kept name nodes, not what the nodes were.
    await collectGarbage(() => living.count <= 256);
  });

  it('is no pod that a cycle has put on a node and taken back, or that has gone since', async () => {
    const { build, cluster } = stage(1);
    new Follower(cluster).follow();
    const living = new Living();
    for (let i = 0; i < 500; i++) {
      const pod = build.projectedPod({ name: `p${i}` });
      cluster.setPod(pod);
      const transaction = cluster.begin();
      transaction.assume(pod, cluster.node('n0')!);
      if (i % 2 === 0) transaction.rollback();
      else transaction.commit();
      cluster.removePod(pod.uid);
      living.see(pod);
    }
    await collectGarbage(() => living.count <= 1);
  });
});

it('who follows seldom, or long ago for the last time, knows as much as who counts', () => {
  const { build, cluster, nodes } = stage(3);
  const [often, seldom, late] = [new Follower(cluster), new Follower(cluster), new Follower(cluster)];
  late.follow();
  const uids: string[] = [];
  for (let i = 0; i < 4_000; i++) {
    const pod = build.projectedPod({ labels: { app: `a${i % 7}` }, nodeName: nodes[i % 3]! });
    cluster.setPod(pod);
    uids.push(pod.uid);
    if (uids.length > 30) cluster.removePod(uids.splice((i * 7) % 30, 1)[0]!);
    if (i % 100 === 0) expect(often.follow()).toEqual(heldBy(cluster));
    if (i % 700 === 0) expect(seldom.follow()).toEqual(heldBy(cluster));
  }
  expect(late.follow()).toEqual(heldBy(cluster));
});
