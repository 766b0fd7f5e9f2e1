import { expect, it } from 'vitest';
import { seededRandom } from '../../../base/random.ts';
import { runs } from '../../../base/testing/runs.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import type { PodOptions } from '../../../testkit/builders/pod.ts';
import { Queueing } from '../../../testkit/queueing.ts';

/** The objects of a random cluster that pods of lower priority fill. */
interface Scene {
  readonly nodes: readonly { readonly name: string; readonly cpu: number; readonly zone: string }[];
  readonly groups: Readonly<Record<string, number>>;
  readonly running: readonly PodOptions[];
  readonly members: number;
  readonly minMember: number;
  readonly options: PodOptions;
}

function draw(random: () => number): Scene {
  const below = (limit: number): number => Math.floor(random() * limit);
  const nodes = Array.from({ length: 3 + below(6) }, (_, i) => ({
    name: `n${i}`,
    cpu: 2 + below(3),
    zone: `z${below(2)}`,
  }));
  const groups = Object.fromEntries(['blue', 'green', 'red'].map((name) => [name, 1 + below(3)]));
  const running: PodOptions[] = [];
  for (const { name: nodeName, cpu } of nodes) {
    for (let left = cpu - below(2); left > 0;) {
      const uses = Math.min(left, 1 + below(2));
      left -= uses;
      running.push({
        name: `p${running.length}`,
        uid: `p${running.length}`,
        createdAt: Date.UTC(2026, 0, 1),
        nodeName,
        cpu: uses,
        priority: below(3) * 10,
        labels: { app: `a${below(3)}` },
        ...(below(2) === 0 && { group: Object.keys(groups)[below(3)]! }),
        ...(below(8) === 0 && { deleting: true }),
        // Many start in the same second.
        status: { startTime: new Date(Date.UTC(2026, 0, 1, 0, 0, below(3))).toISOString() },
      });
    }
  }
  const antiAffinity = {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'a0' } } },
      ],
    },
  };
  const members = 1 + below(6);
  return {
    ...{ nodes, groups, running, members, minMember: 1 + below(members) },
    options: {
      cpu: 1 + below(2),
      priority: 15 + below(2) * 10,
      ...(below(4) === 0 && { spec: { affinity: antiAffinity } }),
    },
  };
}

/** Returns the victims and the nominations, after everything was added in an order of its own. */
function preempt(
  { nodes, groups, running, members, minMember, options }: Scene,
  shuffle: <T>(all: readonly T[]) => T[],
): string[] {
  const core = new Queueing({ plugins: defaultPlugins });
  for (const { name, cpu, zone } of shuffle(nodes))
    core.node({ name, cpu, labels: { 'topology.kubernetes.io/zone': zone } });
  for (const [name, quorum] of shuffle(Object.entries(groups))) core.group({ name, uid: name, minMember: quorum });
  for (const pod of shuffle(running)) core.pod(pod);
  core.group({ name: 'x', uid: 'x', minMember });
  for (let i = 0; i < members; i++) core.pod({ ...options, name: `x${i}`, uid: `x${i}`, group: 'x' });
  core.harness.core.attempt();
  const reserved = [...core.harness.cluster.reservations()].map(
    ({ owner, nodeName }) => `${owner.name} on ${nodeName}`,
  );
  return [...core.harness.preempted.map((text) => `evicts ${text.split(' ')[0]}`), ...reserved].sort();
}

it('I8, PE41: the same cluster yields the same victims and nodes, in whatever order its nodes, pods and groups are seen', () => {
  let found = 0;
  for (let seed = 1; seed <= runs(600); seed++) {
    const random = seededRandom(seed);
    const scene = draw(random);
    const shuffle = <T>(all: readonly T[]): T[] =>
      all
        .map((one) => [random(), one] as const)
        .sort(([a], [b]) => a - b)
        .map(([, one]) => one);
    const plain = preempt(scene, (all) => [...all]);
    if (plain.length > 0) found++;
    for (let i = 0; i < 3; i++) expect(preempt(scene, shuffle), `seed ${seed}`).toEqual(plain);
  }
  expect(found).toBeGreaterThan(runs(600) / 4);
});
