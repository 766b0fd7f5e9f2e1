import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../base/random.ts';
import { Builders } from '../testkit/builders/builders.ts';
import { Cluster } from './cluster.ts';
import type { PodClass } from './placed-pods.ts';

/** `namespace labels deleting node` -> how many, of what the cluster holds */
function seen(cluster: Cluster): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const node of cluster.nodes) {
    for (const { namespace, labels, deleting } of node.pods.values()) {
      const key = `${namespace} ${JSON.stringify(labels)} ${deleting} ${node.name}`;
      counts[key] = (counts[key] ?? 0) + 1;
    }
  }
  return counts;
}

const keyOf = ({ namespace, labels, deleting }: PodClass, node: string): string =>
  `${namespace} ${JSON.stringify(labels)} ${deleting} ${node}`;

function classed(cluster: Cluster): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of cluster.placed.classes()) {
    kind.forEachNode((node, count) => {
      if (node.index >= 0) counts[keyOf(kind, node.name)] = (counts[keyOf(kind, node.name)] ?? 0) + count;
    });
  }
  return counts;
}

describe('the pods on nodes, by class', () => {
  it('are those on nodes, whatever was assumed, taken out and taken back; who follows the changes knows as much', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const random = seededRandom(seed);
        const upTo = (most: number): number => Math.floor(random() * (most + 1));
        const build = new Builders();
        const cluster = new Cluster(build.resources);
        for (let i = 0; i < 4; i++) cluster.setNode(build.projectedNode({ name: `n${i}` }));
        const podOn = (nodeName?: string): ReturnType<typeof build.projectedPod> =>
          build.projectedPod({
            namespace: ['a', 'b'][upTo(1)]!,
            labels: { app: `${upTo(2)}` },
            deleting: random() < 0.1,
            ...(nodeName !== undefined && { nodeName }),
          });
        const pods = Array.from({ length: 12 }, () => podOn(random() < 0.7 ? `n${upTo(3)}` : undefined));
        for (const pod of pods) cluster.setPod(pod);
        const followed = classed(cluster);
        let { version } = cluster.placed;
        const follow = (): void => {
          const isKnown = cluster.placed.changesSince(version, (kind, node, change) => {
            const key = keyOf(kind, node.name);
            followed[key] = (followed[key] ?? 0) + change;
            if (followed[key] === 0) delete followed[key];
          });
          expect(isKnown).toBe(true);
          version = cluster.placed.version;
          expect(followed).toEqual(seen(cluster));
        };
        for (let step = 0; step < 12; step++) {
          if (random() < 0.5) {
            const transaction = cluster.begin();
            for (let act = upTo(5); act > 0; act--) {
              const pod = pods[upTo(pods.length - 1)]!;
              const savepoint = transaction.savepoint();
              if (cluster.openPod(pod.uid) !== undefined) transaction.assume(pod, cluster.node(`n${upTo(3)}`)!);
              else transaction.takeOut([pod, pods[upTo(pods.length - 1)]!]);
              if (random() < 0.3) follow();
              if (random() < 0.3) transaction.rollbackTo(savepoint);
            }
            transaction.rollback();
          } else {
            const place = upTo(pods.length - 1);
            const pod = pods[place]!;
            if (random() < 0.3) cluster.removePod(pod.uid);
            else cluster.setPod((pods[place] = { ...pod, labels: podOn().labels, deleting: random() < 0.3 }));
          }
          if (random() < 0.5) follow();
          expect(classed(cluster)).toEqual(seen(cluster));
        }
      }),
      { numRuns: 300 },
    );
  });
});
