import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { drawInstance } from './draw-instance.ts';
import { families } from './families.ts';
import type { Family } from './families.ts';
import { planInstance } from './plan-instance.ts';
import { recordedPlans, recordedPlansInZones, recordedSeeds } from './recorded-plans.ts';
import type { RecordedPlans } from './recorded-plans.ts';

/** The strategies that choose nodes by score. Others only place gangs that these reject. */
const byScore = new Set(['HardestFirst', 'EasiestFirst']);

async function plansByScore(family: Family, sharesZone: boolean): Promise<RecordedPlans> {
  const hash = createHash('sha256');
  let placed = 0;
  for (let seed = 1; seed <= recordedSeeds; seed++) {
    const plan = planInstance(drawInstance(family, seed), { sharesZone });
    // Weakly held objects stay in memory until the turn ends.
    await nextTurn();
    if (plan === undefined || !byScore.has(plan.strategy)) continue;
    placed++;
    hash.update(`${seed} ${JSON.stringify([...plan.nodes])}\n`);
  }
  return { placed, digest: hash.digest('hex').slice(0, 16) };
}

describe('the strategies that choose nodes by score', () => {
  it.each(families)('make the recorded plans for $name', async (family) => {
    expect(await plansByScore(family, false)).toEqual(recordedPlans[family.name]);
  });

  it.each(Object.keys(recordedPlansInZones))(
    'make the recorded plans for %s, in one zone after another',
    async (name) => {
      const family = families.find((each) => each.name === name)!;
      expect(await plansByScore({ ...family, slack: [1, 3] }, true)).toEqual(recordedPlansInZones[name]);
    },
  );
});
