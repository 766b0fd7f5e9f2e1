import { describe, expect, it } from 'vitest';
import { collectGarbage } from '../base/testing/collect-garbage.ts';
import { Builders } from '../testkit/builders/builders.ts';
import { Cluster } from './cluster.ts';
import { Follower, recount } from './testing/node-assignments.ts';

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

/** Returns how many of the observed objects have not been garbage-collected. */
class Living {
  count = 0;
  readonly #collected = new FinalizationRegistry<undefined>(() => this.count--);

  see(object: object): void {
    this.count++;
    this.#collected.register(object, undefined);
  }
}

/** Places two pods with unique labels on a node and removes them. */
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

describe('memory for pods that have left their nodes', () => {
  it('is bounded, however many there were, with a reader that follows', async () => {
    const on = stage(4);
    const follower = new Follower(on.cluster);
    const living = new Living();
    for (let i = 0; i < 3_000; i++) {
      if (i % 10 === 0) follower.follow();
      comeAndGo(on, i, living);
    }
    // Two changes per pod; old changes are dropped at twice the number to keep.
    await collectGarbage(() => living.count <= 256);
    expect(follower.follow()).toEqual({});
  });

  it('includes no deleted node or its pods, even without recent reads', async () => {
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
    // Kept changes refer to nodes, not to their contents.
    await collectGarbage(() => living.count <= 256);
  });

  it('includes no pod that a cycle assumed and rolled back, or that was deleted since', async () => {
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

it('a reader that follows rarely agrees with a recount', () => {
  const { build, cluster, nodes } = stage(3);
  const [often, seldom, late] = [new Follower(cluster), new Follower(cluster), new Follower(cluster)];
  late.follow();
  const uids: string[] = [];
  for (let i = 0; i < 4_000; i++) {
    const pod = build.projectedPod({ labels: { app: `a${i % 7}` }, nodeName: nodes[i % 3]! });
    cluster.setPod(pod);
    uids.push(pod.uid);
    if (uids.length > 30) cluster.removePod(uids.splice((i * 7) % 30, 1)[0]!);
    if (i % 100 === 0) expect(often.follow()).toEqual(recount(cluster));
    if (i % 700 === 0) expect(seldom.follow()).toEqual(recount(cluster));
  }
  expect(late.follow()).toEqual(recount(cluster));
});
