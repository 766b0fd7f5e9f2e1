import type { BatchOutcome, FailedSeed } from './batch.ts';
import type { Mutation } from './mutation.ts';
import { mutations } from './mutations.ts';
import { WorkerPool } from './worker-pool.ts';
import type { Task } from './worker.ts';

/** Number of seeds per task: few, so that the run ends soon after the first seed that catches the defect. */
const batchSize = 4;

export interface MutationOutcome {
  readonly mutation: Mutation;
  /** The first seed that caught it; undefined: none. */
  readonly caught: FailedSeed | undefined;
  readonly seeds: number;
}

/** Runs seeds, from 1, on the product with the defect until one catches it. */
export async function tryMutation(
  mutation: Mutation,
  workers: number,
  most = mutation.within,
): Promise<MutationOutcome> {
  const pool = new WorkerPool(workers, mutation);
  const failed: FailedSeed[] = [];
  let seeds = 0;
  try {
    await pool.run<BatchOutcome>(batches(most), (outcome) => {
      seeds += outcome.runs;
      failed.push(...outcome.failed);
      return failed.length === 0;
    });
  } finally {
    await pool.close();
  }
  failed.sort((a, b) => a.seed - b.seed);
  return { mutation, caught: failed[0], seeds };
}

export interface MutationsOptions {
  readonly workers: number;
  /** Names of the defects to try; empty: all. */
  readonly names: readonly string[];
  /** Upper limit for the number of seeds of each defect. */
  readonly most: number | undefined;
  readonly print: (line: string) => void;
}

/** Tries the defects and prints a table row for each. Returns false when one is not caught within its limit. */
export async function tryMutations({ workers, names, most = Infinity, print }: MutationsOptions): Promise<boolean> {
  const unknown = names.find((name) => !mutations.some((mutation) => mutation.name === name));
  if (unknown !== undefined) {
    print(`unknown defect "${unknown}"; known: ${mutations.map(({ name }) => name).join(', ')}`);
    return false;
  }
  const chosen = names.length === 0 ? mutations : mutations.filter(({ name }) => names.includes(name));
  print('| defect | caught by | at seed | allowed | violation |');
  print('| --- | --- | --- | --- | --- |');
  let passed = 0;
  for (const mutation of chosen) {
    const { caught } = await tryMutation(mutation, workers, Math.min(most, mutation.within));
    if (caught !== undefined) passed++;
    const seen =
      caught === undefined ? ['nothing', '-', ''] : [caught.violation.invariant, caught.seed, caught.violation.what];
    print(`| ${mutation.name} | ${seen[0]} | ${seen[1]} | ${mutation.within} | ${String(seen[2]).slice(0, 160)} |`);
  }
  print(`${passed} of ${chosen.length} caught`);
  return passed === chosen.length;
}

function* batches(count: number): Iterable<Task> {
  for (let from = 1; from <= count; from += batchSize)
    yield { kind: 'seeds', from, count: Math.min(batchSize, count - from + 1) };
}
