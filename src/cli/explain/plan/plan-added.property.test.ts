import { expect, it } from 'vitest';
import type { Basis } from '../../../api/explain/basis.ts';
import type { PlanItem } from '../../../api/explain/lists.ts';
import type { Pod } from '../../../api/pod.ts';
import { drawCluster } from '../../../scheduler/testing/drawn-cluster.ts';
import { addBasics, addPreemptors, setupOf } from '../../../scheduler/testing/explained-cluster.ts';
import { VolumeController } from '../../../scheduler/testing/volume-controller.ts';
import type { PodOptions } from '../../../testkit/builders/pod.ts';
import { Scheduling } from '../../../testkit/scheduling.ts';
import { planAdded } from './plan-added.ts';

/** More clusters: PLAN_SEEDS=20000 vitest run --project unit-apart src/cli/explain/plan/plan-added.property.test.ts */
const first = Number(process.env.PLAN_FROM ?? 1);
const count = Number(process.env.PLAN_SEEDS ?? 60);
const seeds = Array.from({ length: count }, (_, i) => first + i);

const basis: Basis = { source: 'api', takenAt: '', ageSeconds: 0, unknowns: [] };

/** A cluster of the seed, in which a group waits, to which another group and single pods are added. */
function clusterOf(seed: number): { readonly scheduling: Scheduling; readonly added: readonly Pod[] } {
  const draw = drawCluster(seed);
  const { members, minMember, minResources } = draw;
  const volumes = new VolumeController(() => scheduling);
  const scheduling: Scheduling = new Scheduling({ ...setupOf(draw), ports: { volumes } }, 'listing');
  addBasics(scheduling, draw);
  if (draw.before === 'nomination') addPreemptors(scheduling, draw);
  scheduling.group({ name: 'waits', minMember });
  for (const pod of members) scheduling.pod({ ...pod, name: `waits-${pod.name}`, group: 'waits' });
  const added: PodOptions[] = [];
  scheduling.group({ name: 'gang', minMember, ...(minResources !== undefined && { minResources }) });
  added.push(...members);
  for (const { group: _, ...pod } of members.slice(0, 2)) added.push({ ...pod, name: `solo-${pod.name}` });
  // Added pods are not bound yet.
  return { scheduling, added: added.map(({ nodeName: _, ...pod }) => scheduling.pod(pod)) };
}

/** Returns what a scheduler binds on this cluster: pod -> node. No victim terminates. */
async function bindAll(scheduling: Scheduling): Promise<ReadonlyMap<string, string>> {
  const bound = new Map<string, string>();
  scheduling.start();
  for (let isBusy = true; isBusy;) {
    isBusy = (await scheduling.attempt()) !== undefined;
    for (const { binding } of [...scheduling.binds]) {
      isBusy = true;
      bound.set(binding.name, binding.nodeName);
      await scheduling.accept(binding.name);
      scheduling.change(binding.name, { nodeName: binding.nodeName });
      await scheduling.settle();
    }
  }
  return bound;
}

function assignmentsOf(items: readonly PlanItem[]): Readonly<Record<string, string>> {
  const fitting = items.filter(({ fits }) => fits);
  return Object.fromEntries(
    fitting
      .flatMap(({ assignments }) => assignments.map(({ member, node }): [string, string] => [member, node]))
      .sort(),
  );
}

it('WI2, WI3: what fits by the plan is bound to the same nodes, and nothing of the rest', async () => {
  const seen = { fits: 0, not: 0 };
  for (const seed of seeds) {
    const { scheduling, added } = clusterOf(seed);
    const { items } = planAdded(scheduling.harness.core, { pods: added, groups: ['default/gang'] }, basis);
    const real = clusterOf(seed);
    const bound = await bindAll(real.scheduling);
    const names = new Set(real.added.map(({ name }) => name));
    const boundOfAdded = Object.fromEntries([...bound].filter(([name]) => names.has(name)).sort());
    expect(assignmentsOf(items), `seed ${seed}`).toEqual(boundOfAdded);
    for (const { fits, explanation } of items) {
      seen[fits ? 'fits' : 'not']++;
      expect(explanation === undefined, `seed ${seed}`).toBe(fits);
      expect(explanation?.errors ?? [], `seed ${seed}`).toEqual([]);
    }
  }
  expect(seen.fits).toBeGreaterThan(count / 4);
  expect(seen.not).toBeGreaterThan(count / 4);
});
