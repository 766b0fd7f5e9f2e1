import { setImmediate as nextTurn } from 'node:timers/promises';
import { drawInstance } from './draw-instance.ts';
import type { Family } from './families.ts';
import { judgeAnswer, mismatches } from './judge-answer.ts';
import type { Judgment, Mismatch } from './judge-answer.ts';
import { preemptInstance } from './preempt-instance.ts';

/** What happened to the instances of a family. */
export interface FamilyResult {
  readonly family: string;
  readonly instances: number;
  readonly counts: Readonly<Record<Judgment['kind'], number>>;
  /** mismatch -> seeds */
  readonly seeds: Readonly<Record<Mismatch, readonly number[]>>;
  /** number of pods evicted beyond the smallest set -> number of instances with victims */
  readonly extra: ReadonlyMap<number, number>;
}

/** Lets a scheduler preempt in the instances `from` to `from + count - 1` of the family. */
export async function measurePreemption(family: Family, from: number, count: number): Promise<FamilyResult> {
  const counts = { placed: 0, preempts: 0, waits: 0, rejected: 0 };
  const names = Object.keys(mismatches) as Mismatch[];
  const seeds = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Mismatch, number[]>;
  const extra = new Map<number, number>();
  for (let seed = from; seed < from + count; seed++) {
    const instance = drawInstance(family, seed);
    const judgment = judgeAnswer(instance, preemptInstance(instance));
    // Weakly held objects stay in memory until the turn ends.
    await nextTurn();
    counts[judgment.kind]++;
    for (const mismatch of judgment.found) seeds[mismatch].push(seed);
    if (judgment.kind === 'preempts') extra.set(judgment.extra, (extra.get(judgment.extra) ?? 0) + 1);
  }
  return { family: family.name, instances: count, counts, seeds, extra };
}
