import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { drawInstance } from './draw-instance.ts';
import { families } from './families.ts';
import { planInstance } from './plan-instance.ts';
import { recordedPlans, recordedSeeds } from './recorded-plans.ts';

/** The strategies that choose nodes by score. Others only place gangs that these reject. */
const byScore = new Set(['HardestFirst', 'EasiestFirst']);

describe('the strategies that choose nodes by score', () => {
  it.each(families)('make the recorded plans for $name', async ({ name }) => {
    const family = families.find((each) => each.name === name)!;
    const hash = createHash('sha256');
    let placed = 0;
    for (let seed = 1; seed <= recordedSeeds; seed++) {
      const plan = planInstance(drawInstance(family, seed));
      // Weakly held objects stay in memory until the turn ends.
      await nextTurn();
      if (plan === undefined || !byScore.has(plan.strategy)) continue;
      placed++;
      hash.update(`${seed} ${JSON.stringify([...plan.nodes])}\n`);
    }
    expect({ placed, digest: hash.digest('hex').slice(0, 16) }).toEqual(recordedPlans[name]);
  });
});
