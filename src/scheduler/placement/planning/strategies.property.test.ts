import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../base/random.ts';
import { runs } from '../../../base/testing/runs.ts';
import { drawInstance } from '../../../../test/refusals/draw-instance.ts';
import { families } from '../../../../test/refusals/families.ts';
import type { Family } from '../../../../test/refusals/families.ts';
import type { Instance } from '../../../../test/refusals/instance.ts';
import { planInstance } from '../../../../test/refusals/plan-instance.ts';
import type { InstancePlan } from '../../../../test/refusals/plan-instance.ts';

const byScore = new Set(['HardestFirst', 'EasiestFirst']);

/** Returns the strategy and which members each node gets, up to exchange of identical members. */
function upToExchange({ members, kinds }: Instance, plan: InstancePlan | undefined): unknown {
  if (plan === undefined) return undefined;
  // Kinds may be drawn alike. Only their anti-affinity then tells them apart.
  const names = kinds.map((kind, index) => JSON.stringify([kind, kind.apartFrom === 'kind' ? index : undefined]));
  const places = [...plan.nodes].map(([member, node]) => `${names[members[member]!]} on ${node}`);
  return { strategy: plan.strategy, places: places.sort() };
}

function shuffled(count: number, seed: number): number[] {
  const random = seededRandom(seed);
  const order = [...Array.from({ length: count }).keys()];
  for (let i = count - 1; i > 0; i--) {
    const other = Math.floor(random() * (i + 1));
    [order[i], order[other]] = [order[other]!, order[i]!];
  }
  return order;
}

/** Calls `check` for instances of the family; ends the turn after each, so that weakly held objects can go. */
async function forInstances(family: Family, count: number, check: (instance: Instance) => void): Promise<void> {
  for (let seed = 1; seed <= count; seed++) {
    check(drawInstance(family, seed));
    await nextTurn();
  }
}

describe('the plan of a gang', () => {
  it('is the same up to exchange of identical members, whatever the order in which nodes and members arrive', async () => {
    const strategies = new Set<string>();
    for (const family of families) {
      await forInstances(family, runs(120), (instance) => {
        const { seed, nodes, members } = instance;
        const plan = planInstance(instance);
        const arrival = { nodes: shuffled(nodes.length, seed), members: shuffled(members.length, seed + 1) };
        const where = [family.name, seed];
        expect([where, upToExchange(instance, planInstance(instance, { arrival }))]).toEqual([
          where,
          upToExchange(instance, plan),
        ]);
        if (plan !== undefined) strategies.add(plan.strategy);
      });
    }
    expect([...strategies]).toEqual(expect.arrayContaining(['HardestFirst', 'Search']));
  });
});

describe('an elastic gang that fits', () => {
  it('still fits with one more member of any kind', async () => {
    const counts = { byScore: 0, packed: 0 };
    for (const family of families) {
      await forInstances({ ...family, isElastic: true }, runs(250), (instance) => {
        const { members, kinds, seed } = instance;
        const plan = members.length < 12 ? planInstance(instance) : undefined;
        if (plan === undefined) return;
        counts[byScore.has(plan.strategy) ? 'byScore' : 'packed']++;
        for (const kind of kinds.keys()) {
          const larger = planInstance({ ...instance, members: [...members, kind] });
          expect([family.name, seed, kind, larger !== undefined]).toEqual([family.name, seed, kind, true]);
        }
      });
    }
    expect(Math.min(counts.byScore, counts.packed)).toBeGreaterThan(0);
  });
});
