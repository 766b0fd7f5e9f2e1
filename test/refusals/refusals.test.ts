import { describe, expect, it } from 'vitest';
import { runs } from '../../src/base/testing/runs.ts';
import type { Placement } from '../simulation/checks/exact-placement.ts';
import { problemOf } from './check-plan.ts';
import { drawInstance } from './draw-instance.ts';
import { families } from './families.ts';
import type { Family } from './families.ts';
import type { Instance } from './instance.ts';
import { maxSteps, measureRefusals } from './measure-refusals.ts';
import { planInstance } from './plan-instance.ts';
import { solveExactly } from './solve-exactly.ts';

type MemberNodes = ReadonlyMap<number, number>;

/** Returns the placement as member -> node. */
function memberNodesOf({ members }: Instance, placement: Placement): MemberNodes {
  const nodes = placement.map((counts) => counts.flatMap((count, node) => Array.from({ length: count }, () => node)));
  const placed = members.map((kind, member) => [member, nodes[kind]!.pop()] as const);
  return new Map(placed.filter((entry): entry is readonly [number, number] => entry[1] !== undefined));
}

/** Tries every node, and none, for every member. */
function fitsByForce(instance: Instance, plan: MemberNodes = new Map(), member = 0): boolean {
  if (member === instance.members.length) return problemOf(instance, plan) === undefined;
  return (
    instance.nodes.some((_, node) => fitsByForce(instance, new Map([...plan, [member, node]]), member + 1)) ||
    fitsByForce(instance, plan, member + 1)
  );
}

describe.each(families)('instances with $name', (family) => {
  const tiny: Family = { ...family, nodes: [1, 3], members: [2, 4], kinds: family.kinds[1] === 1 ? [1, 1] : [1, 3] };

  it('have the exact solution that trying everything has', () => {
    const counts = { placed: 0, none: 0, unknown: 0 };
    for (let seed = 1; seed <= runs(40); seed++) {
      const instance = drawInstance(tiny, seed);
      const { kind } = solveExactly(instance, maxSteps);
      counts[kind]++;
      expect([seed, kind]).toEqual([seed, fitsByForce(instance) ? 'placed' : 'none']);
    }
    expect(Math.min(counts.placed, counts.none)).toBeGreaterThan(0);
  });

  it('have exact solutions that the plain check accepts', () => {
    for (let seed = 1; seed <= runs(200); seed++) {
      const instance = drawInstance(family, seed);
      const exact = solveExactly(instance, maxSteps);
      if (exact.kind !== 'placed') continue;
      expect([seed, problemOf(instance, memberNodesOf(instance, exact.placement))]).toEqual([seed, undefined]);
    }
  });

  it('get no wrong plan, and the same results in each run', async () => {
    const result = await measureRefusals(family, 1, runs(60));
    expect(result).toMatchObject({ instances: runs(60), dropped: 0, wrong: [] });
    expect(result.feasible).toBeGreaterThan(result.rejected.length);
    if (family.kinds[1] === 1) expect(result.rejected).toEqual([]);
    expect(await measureRefusals(family, 1, runs(60))).toEqual(result);
  });
});

describe('problemOf', () => {
  const familyOf = (name: string): Family => families.find((family) => family.name === name)!;

  it.each(families)('notices when a plan for $name is changed for the worse', (family) => {
    let checked = 0;
    for (let seed = 1; seed <= runs(20); seed++) {
      const instance = drawInstance(family, seed);
      const plan = planInstance(instance)?.nodes;
      if (plan === undefined) continue;
      checked++;
      const tooFew = new Map([...plan].slice(0, instance.needed - 1));
      expect(problemOf(instance, tooFew)).toMatch(/of the \d+ needed members/);
      const elsewhere = new Map([...plan].map(([member]) => [member, instance.nodes.length]));
      expect(problemOf(instance, elsewhere)).toBe('a member or a node does not exist');
      const [, node] = [...plan][0]!;
      const used = { ...instance.nodes[node]!, used: instance.nodes[node]!.allocatable };
      const full = { ...instance, nodes: instance.nodes.with(node, used) };
      expect(problemOf(full, plan)).toMatch(/does not fit/);
    }
    expect(checked).toBeGreaterThan(0);
  });

  it('tells which features reject a plan', () => {
    const changes: Readonly<Record<string, (instance: Instance) => Instance>> = {
      'host ports': ({ kinds, ...rest }) => ({ ...rest, kinds: kinds.map((kind) => ({ ...kind, hostPort: 1 })) }),
      'node selectors': ({ kinds, ...rest }) => ({ ...rest, kinds: kinds.map((kind) => ({ ...kind, zone: 'c' })) }),
      'anti-affinity': ({ kinds, ...rest }) => {
        return { ...rest, kinds: kinds.map((kind) => ({ ...kind, apartFrom: 'gang' as const })) };
      },
      taints: ({ kinds, nodes, ...rest }) => ({
        ...rest,
        kinds: kinds.map((kind) => ({ ...kind, toleratesTaint: false })),
        nodes: nodes.map((node) => ({ ...node, isTainted: true })),
      }),
    };
    for (const [name, change] of Object.entries(changes)) {
      // More members than nodes: two of them share a node.
      const family: Family = { ...familyOf('mixed'), name, nodes: [2, 2] };
      const changed = change(drawInstance(family, 1));
      const plan = planInstance(drawInstance(family, 1))!.nodes;
      expect([name, problemOf(drawInstance(family, 1), plan)]).toEqual([name, undefined]);
      expect([name, problemOf(changed, plan)]).toEqual([name, expect.stringContaining('does not fit')]);
      expect([name, planInstance(changed), solveExactly(changed, maxSteps).kind]).toEqual([name, undefined, 'none']);
    }
  });
});
