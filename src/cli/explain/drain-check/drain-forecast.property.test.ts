import { expect, it } from 'vitest';
import { seededRandom } from '../../../base/random.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { ExplainedCluster } from '../../../scheduler/testing/explained-cluster.ts';
import type { PodOptions } from '../../../testkit/builders/pod.ts';
import { Scheduling } from '../../../testkit/scheduling.ts';
import { forecastDrain } from './drain-forecast.ts';

/** More clusters: DRAIN_SEEDS=20000 vitest run --project unit-apart src/cli/explain/drain-check/drain-forecast.property.test.ts */
const first = Number(process.env.DRAIN_FROM ?? 1);
const count = Number(process.env.DRAIN_SEEDS ?? 150);
const seeds = Array.from({ length: count }, (_, i) => first + i);

/** Two groups that run on nodes of the seed's cluster, and a node or two to drain. */
function clusterOf(seed: number): {
  readonly scheduling: Scheduling;
  readonly members: readonly PodOptions[];
  readonly drained: readonly string[];
} {
  const { nodes, members } = ExplainedCluster.of(seed).draw;
  const random = seededRandom(seed);
  const pick = (below: number): number => Math.floor(random() * below);
  const scheduling = new Scheduling({ plugins: defaultPlugins }, 'listing');
  for (const node of nodes) scheduling.node(node);
  const bound = ['left', 'right'].flatMap((group) => {
    scheduling.group({ name: group, minMember: 1 + pick(members.length) });
    return members.map(({ name, ...member }): PodOptions => {
      return { ...member, name: `${group}-${name}`, group, job: group, nodeName: nodes[pick(nodes.length)]!.name! };
    });
  });
  for (const pod of bound) scheduling.pod(pod);
  const drained = nodes.slice(0, 1 + pick(2)).map(({ name }) => name!);
  return { scheduling, members: bound, drained };
}

it('WI20: the forecast is what a drain does', async () => {
  const outcomes = new Map<string, number>();
  for (const seed of seeds) {
    const { scheduling, drained } = clusterOf(seed);
    const { items } = forecastDrain(scheduling.harness.core, drained, scheduling.harness.clock.now());
    const real = clusterOf(seed);
    const fit = await drain(real);
    for (const { subject, here, after, minMember, assignments, outcome } of items) {
      outcomes.set(outcome!, (outcomes.get(outcome!) ?? 0) + 1);
      const ofGroup = [...fit].filter(([, { group }]) => group === subject.name);
      expect(Object.fromEntries(assignments.map(({ member, node }) => [member, node])), `seed ${seed}`).toEqual(
        Object.fromEntries(ofGroup.map(([name, { node }]) => [name, node])),
      );
      const isWhole = ofGroup.length === here;
      const hasQuorum = after + ofGroup.length >= minMember;
      const expected = isWhole ? (after >= minMember ? 'safe' : 'interrupts') : hasQuorum ? 'shrinks' : 'strands';
      expect(outcome, `seed ${seed}`).toBe(expected);
    }
  }
  for (const outcome of ['safe', 'interrupts', 'shrinks', 'strands'])
    expect(outcomes.get(outcome) ?? 0, outcome).toBeGreaterThan(0);
});

/** Drains the nodes, and lets controllers and the scheduler work: replaced pod -> its node and group. */
async function drain({
  scheduling,
  members,
  drained,
}: ReturnType<typeof clusterOf>): Promise<ReadonlyMap<string, { readonly node: string; readonly group: string }>> {
  scheduling.start();
  const { cluster } = scheduling.harness;
  const nodes = drained.map((name) => cluster.node(name)!);
  const displaced = nodes.flatMap(({ pods }) => [...pods.values()]);
  const options = new Map(members.map((member) => [member.name!, member]));
  for (const { node } of nodes) scheduling.harness.core.handlers.nodes.onUpdate(node, { ...node, unschedulable: true });
  for (const { uid } of displaced) scheduling.removePod(uid);
  const now = scheduling.harness.clock.now();
  for (const [index, { name }] of displaced.entries()) {
    const { nodeName: _, ...waiting } = options.get(name)!;
    scheduling.pod({ ...waiting, uid: `replacement-${String(index).padStart(8, '0')}`, createdAt: now });
  }
  const fit = new Map<string, { readonly node: string; readonly group: string }>();
  for (let isBusy = true; isBusy;) {
    isBusy = (await scheduling.attempt()) !== undefined;
    for (const { binding } of [...scheduling.binds]) {
      isBusy = true;
      fit.set(binding.name, { node: binding.nodeName, group: options.get(binding.name)!.group! });
      await scheduling.accept(binding.name);
      scheduling.change(binding.uid, { nodeName: binding.nodeName });
      await scheduling.settle();
    }
  }
  return fit;
}
