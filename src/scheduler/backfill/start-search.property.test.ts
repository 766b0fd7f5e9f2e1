import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { WorkBudget } from '../../base/work-budget.ts';
import { finish } from '../../base/yielding.ts';
import type { Pod } from '../../api/pod.ts';
import type { ExpectedEnd } from '../../cluster/run-times.ts';
import { defaultPlugins, pluginRegistry } from '../../plugins/registry.ts';
import { CoreHarness } from '../../testkit/core-harness.ts';
import { demandOf } from '../placement/planning/demand.ts';
import { StartSearch } from './start-search.ts';

/** A pod on a node: its CPUs, and the second at which it ends. Undefined: unknown. */
interface Running {
  readonly node: number;
  readonly cpu: number;
  readonly end: number | undefined;
}

const nodeCount = 4;
const cpusPerNode = 4;
const running: fc.Arbitrary<Running> = fc.record({
  node: fc.nat(nodeCount - 1),
  cpu: fc.integer({ min: 1, max: cpusPerNode }),
  end: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 8 }) }, fc.constant(undefined)),
});

/** Returns how many pods with this many CPUs fit once all pods have ended that end by then. */
function fitting(pods: readonly Running[], cpu: number, second: number): number {
  let count = 0;
  for (let node = 0; node < nodeCount; node++) {
    const used = pods
      .filter((pod) => pod.node === node && (pod.end ?? Infinity) > second)
      .reduce((sum, pod) => sum + pod.cpu, 0);
    count += Math.floor((cpusPerNode - used) / cpu);
  }
  return count;
}

it('finds the first end after which a gang fits, and a plan that fits then', () => {
  fc.assert(
    fc.property(
      fc.array(running, { maxLength: 10 }),
      fc.integer({ min: 1, max: cpusPerNode }),
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 2_000 }),
      (drawn, cpu, size, workPerTurn) => {
        const harness = new CoreHarness({
          plugins: [],
          setup: {
            profiles: [{ schedulerName: 'default-scheduler', plugins: defaultPlugins.map(({ name }) => ({ name })) }],
            plugins: pluginRegistry,
          },
        });
        for (let i = 0; i < nodeCount; i++) harness.node({ name: `n${i}`, cpu: cpusPerNode });
        const free = Array.from({ length: nodeCount }, () => cpusPerNode);
        const pods = drawn.filter(({ node, cpu: used }) => {
          if (free[node]! < used) return false;
          free[node]! -= used;
          return true;
        });
        /** uid -> second of its end */
        const ends = new Map<string, number | undefined>();
        for (const [i, pod] of pods.entries()) {
          ends.set(`old-${i}`, pod.end);
          harness.pod({ name: `old-${i}`, uid: `old-${i}`, cpu: pod.cpu, nodeName: `n${pod.node}` });
        }
        const gang = harness.group({ name: 'big', minMember: size });
        for (let i = 0; i < size; i++) harness.pod({ name: `big-${i}`, group: 'big', cpu });
        const before = harness.capacities();
        const endOf = ({ uid }: Pod): ExpectedEnd => ({ at: (ends.get(uid) ?? Infinity) * 1000, isEstimated: false });
        const { cluster, planner, profile } = harness;
        const request = {
          profile,
          demand: demandOf(cluster, { kind: 'gang', gang }),
          nodes: cluster.nodes,
          within: undefined,
          nodeSubsetOf: undefined,
          ignoresReservationOf: () => false,
        };
        const budget = new WorkBudget();
        budget.allow(workPerTurn);
        const found = finish(new StartSearch({ cluster, planner, endOf }).earliest(request, budget));

        const seconds = [...new Set(pods.flatMap(({ end }) => end ?? []))].sort((a, b) => a - b);
        const first = seconds.find((second) => fitting(pods, cpu, second) >= size);
        expect(found?.startsAt).toBe(first === undefined ? undefined : first * 1000);
        expect(harness.capacities()).toEqual(before);
        if (found === undefined) return;
        expect(found.nominations).toHaveLength(size);
        for (const [name, here] of Map.groupBy(found.nominations, ({ nodeName }) => nodeName)) {
          const left = pods.filter((pod) => `n${pod.node}` === name && (pod.end ?? Infinity) > first!);
          const used = left.reduce((sum, pod) => sum + pod.cpu, 0);
          expect(used + here.length * cpu).toBeLessThanOrEqual(cpusPerNode);
        }
      },
    ),
  );
});
