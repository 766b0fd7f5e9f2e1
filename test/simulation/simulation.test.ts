import { describe, expect, it } from 'vitest';
import type { BatchOutcome } from './batch.ts';
import { drawScenario } from './draw-scenario.ts';
import type { ExhaustiveOutcome } from './exhaustive.ts';
import { runScenario } from './run-scenario.ts';
import { callFaults, tricks, watchFaults } from './scenario.ts';
import { WorkerPool } from './worker-pool.ts';
import type { Task } from './worker.ts';

const minute = 60_000;
const batchSize = 25;

function* batches(from: number, count: number): Iterable<Task> {
  for (let at = from; at < from + count; at += batchSize) yield { kind: 'seeds', from: at, count: batchSize };
}

/** Runs seeds. Returns the violations, each with the command that reproduces it, and the names of the faults and steps that happened. */
async function runSeeds(from: number, count: number): Promise<{ problems: string[]; struck: Set<string> }> {
  const pool = new WorkerPool(2);
  const problems: string[] = [];
  const struck = new Set<string>();
  await pool.run<BatchOutcome>(batches(from, count), (outcome) => {
    for (const { seed, violation } of outcome.failed) {
      problems.push(`${violation.invariant}: ${violation.what}; npm run simulate -- --seed ${seed}`);
    }
    for (const name of Object.keys(outcome.struck)) struck.add(name);
    return true;
  });
  await pool.close();
  return { problems, struck };
}

describe('Simulation', () => {
  it(
    'I8 gives the same history for the same seed, and another history for another seed',
    async () => {
      const digests = new Set<string>();
      for (let seed = 1; seed <= 15; seed++) {
        const [first, second] = [await runScenario(drawScenario(seed)), await runScenario(drawScenario(seed))];
        expect([seed, second.digest, second.turns]).toEqual([seed, first.digest, first.turns]);
        digests.add(first.digest);
      }
      expect(digests.size).toBe(15);
    },
    10 * minute,
  );

  it(
    'finds no violation in a thousand seeds that together contain every kind of fault and trick',
    async () => {
      const { problems, struck } = await runSeeds(1, 1_000);
      expect(problems).toEqual([]);
      const kinds = [
        ...callFaults.map((kind) => `call/${kind}`),
        ...watchFaults.map((kind) => `watch/${kind}`),
        ...tricks.map((trick) => `trick/${trick}`),
      ];
      expect(kinds.filter((kind) => !struck.has(kind))).toEqual([]);
    },
    20 * minute,
  );

  it(
    'finds no violation in seeds that have never been run before',
    async () => {
      const { problems } = await runSeeds(1_000_000 + (Math.floor(Date.now() / 1_000) % 1_000_000_000), 100);
      expect(problems).toEqual([]);
    },
    10 * minute,
  );

  it.each([
    ['single faults', 'singles', 40, 50],
    ['pairs of faults', 'pairs', 120, 100],
  ] as const)(
    'finds no violation in a sample of all %s in the small scenarios',
    async (_what, depth, of, min) => {
      const pool = new WorkerPool(2);
      const failed: string[] = [];
      let tried = 0;
      const parts = [0, of >> 1].map((part): Task => ({ kind: 'exhaustive', depth, part, of }));
      await pool.run<ExhaustiveOutcome>(parts, (outcome) => {
        tried += outcome.runs;
        for (const { name, violation } of outcome.failed) {
          failed.push(`${violation.invariant}: ${violation.what}; npm run simulate -- --case "${name}"`);
        }
        return true;
      });
      await pool.close();
      expect(failed).toEqual([]);
      expect(tried).toBeGreaterThan(min);
    },
    10 * minute,
  );
});
