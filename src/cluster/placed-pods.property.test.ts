import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../base/random.ts';
import { Builders } from '../testkit/builders/builders.ts';
import type { Pod } from '../api/pod.ts';
import { Cluster } from './cluster.ts';
import { Follower, recount, keptBy } from './testing/node-assignments.ts';

const claimNames = ['c0', 'c1'] as const;

function claimVolume(claimName: string): {
  readonly name: string;
  readonly persistentVolumeClaim: { claimName: string };
} {
  return { name: claimName, persistentVolumeClaim: { claimName } };
}

/** Returns `namespace/claim` -> number of pods on nodes that use it, counted from scratch. */
function usersHeldBy(cluster: Cluster): Readonly<Record<string, number>> {
  const counts: Record<string, number> = { 'a/c0': 0, 'a/c1': 0, 'b/c0': 0, 'b/c1': 0 };
  for (const node of cluster.nodes) {
    for (const { namespace, volumes } of node.pods.values()) {
      for (const volume of volumes) if (volume.type === 'claim') counts[`${namespace}/${volume.claimName}`]!++;
    }
  }
  return counts;
}

/** Returns the same numbers from the index. */
function usersKeptBy({ claimsInUse }: Cluster): Readonly<Record<string, number>> {
  const all = ['a', 'b'].flatMap((namespace) => claimNames.map((name) => [namespace, name] as const));
  return Object.fromEntries(
    all.map(([namespace, name]) => [`${namespace}/${name}`, claimsInUse.usersOf(namespace, name)]),
  );
}

describe('PlacedPods', () => {
  it('agrees with a recount after any assumptions, dry runs, rollbacks and pauses, as does a reader that follows the changes', () => {
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
            ...(random() < 0.5 && { spec: { volumes: [claimVolume(`c${upTo(1)}`)] } }),
            ...(nodeName !== undefined && { nodeName }),
          });
        const pods = Array.from({ length: 12 }, () => podOn(random() < 0.7 ? `n${upTo(3)}` : undefined));
        for (const pod of pods) cluster.setPod(pod);
        const follower = new Follower(cluster);
        const follow = (): void => expect(follower.follow()).toEqual(recount(cluster));
        follow();
        // The caller may have an older version of the pods to take out.
        const named = (pod: Pod): Pod => (random() < 0.3 ? { ...pod, labels: podOn().labels } : pod);
        for (let step = 0; step < 12; step++) {
          if (random() < 0.5) {
            const transaction = cluster.begin();
            for (let act = upTo(5); act > 0; act--) {
              const pod = pods[upTo(pods.length - 1)]!;
              const savepoint = transaction.savepoint();
              if (cluster.openPod(pod.uid) !== undefined) transaction.assume(pod, cluster.node(`n${upTo(3)}`)!);
              else transaction.takeOut([named(pod), named(pods[upTo(pods.length - 1)]!)]);
              if (random() < 0.3) transaction.putBack(pods.filter(() => random() < 0.3));
              if (random() < 0.3) follow();
              if (random() < 0.3) transaction.rollbackTo(savepoint);
              if (random() < 0.3) {
                cluster.pause();
                if (random() < 0.7) follow();
                cluster.resume();
                if (random() < 0.3) follow();
              }
            }
            transaction.rollback();
          } else {
            const place = upTo(pods.length - 1);
            const pod = pods[place]!;
            if (random() < 0.3) cluster.removePod(pod.uid);
            else cluster.setPod((pods[place] = { ...pod, labels: podOn().labels, deleting: random() < 0.3 }));
          }
          if (random() < 0.5) follow();
          expect(keptBy(cluster)).toEqual(recount(cluster));
          if (random() < 0.5) expect(usersKeptBy(cluster)).toEqual(usersHeldBy(cluster));
        }
      }),
      { numRuns: 300 },
    );
  });
});
