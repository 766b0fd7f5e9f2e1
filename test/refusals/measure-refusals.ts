import { setImmediate as nextTurn } from 'node:timers/promises';
import { problemOf } from './check-plan.ts';
import { drawInstance } from './draw-instance.ts';
import type { Family } from './families.ts';
import { planInstance } from './plan-instance.ts';
import { solveExactly } from './solve-exactly.ts';

/** What happened to the instances of a family. */
export interface FamilyResult {
  readonly family: string;
  readonly instances: number;
  /** Proved to fit. */
  readonly feasible: number;
  /** Neither a placement nor a proof was found within the steps. These are in no other count but `instances`. */
  readonly dropped: number;
  /** Seeds of feasible instances that the planner rejected. */
  readonly rejected: readonly number[];
  /** strategy -> number of gangs that it placed */
  readonly byStrategy: Readonly<Record<string, number>>;
  /** Plans that the plain check rejects, or for instances that are proved not to fit. */
  readonly wrong: readonly string[];
}

/** Limits the exact search to a second on a slow machine. Counted, so that the same instances are dropped everywhere. */
export const maxSteps = 100_000;

/** Asks the planner about the instances `from` to `from + count - 1` of the family. */
export async function measureRefusals(family: Family, from: number, count: number): Promise<FamilyResult> {
  let [feasible, dropped] = [0, 0];
  const byStrategy: Record<string, number> = {};
  const rejected: number[] = [];
  const wrong: string[] = [];
  for (let seed = from; seed < from + count; seed++) {
    const instance = drawInstance(family, seed);
    const exact = solveExactly(instance, maxSteps).kind;
    if (exact === 'unknown') {
      dropped++;
      continue;
    }
    const plan = planInstance(instance);
    // Weakly held objects stay in memory until the turn ends.
    await nextTurn();
    if (exact === 'placed') {
      feasible++;
      if (plan === undefined) rejected.push(seed);
    }
    if (plan === undefined) continue;
    byStrategy[plan.strategy] = (byStrategy[plan.strategy] ?? 0) + 1;
    const problem = problemOf(instance, plan.nodes) ?? (exact === 'none' ? 'the gang is proved not to fit' : undefined);
    if (problem !== undefined) wrong.push(`seed ${seed}: ${problem}`);
  }
  return { family: family.name, instances: count, feasible, dropped, rejected, byStrategy, wrong };
}
