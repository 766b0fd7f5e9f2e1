import type { BatchOutcome, FailedSeed } from './batch.ts';
import type { Mutation } from './mutation.ts';
import { mutations } from './mutations.ts';
import { WorkerPool } from './worker-pool.ts';
import type { Task } from './worker.ts';

/** How many seeds a thread takes at once: few, so that it ends soon after the first that catches the defect. */
const batchSize = 4;

export interface MutationOutcome {
  readonly mutation: Mutation;
  /** The first seed that caught it; undefined: none did. */
  readonly caught: FailedSeed | undefined;
  readonly seeds: number;
}

/** Runs seeds on the product with that defect, from 1 until one catches it. */
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
  /** Only the defects of these names; empty: all. */
  readonly names: readonly string[];
  /** No more seeds than that, where more are allowed. */
  readonly most: number | undefined;
  readonly say: (line: string) => void;
}

/** All defects, or one; a line of a table each. False when one is not caught within its limit. */
export async function tryMutations({ workers, names, most = Infinity, say }: MutationsOptions): Promise<boolean> {
  const unknown = names.find((name) => !mutations.some((mutation) => mutation.name === name));
  if (unknown !== undefined) {
    say(`there is no defect "${unknown}"; there are: ${mutations.map(({ name }) => name).join(', ')}`);
    return false;
  }
  const chosen = names.length === 0 ? mutations : mutations.filter(({ name }) => names.includes(name));
  say('| defect | caught by | at seed | allowed | what was seen |');
  say('| --- | --- | --- | --- | --- |');
  let passed = 0;
  for (const mutation of chosen) {
    const { caught } = await tryMutation(mutation, workers, Math.min(most, mutation.within));
    if (caught !== undefined) passed++;
    const seen =
      caught === undefined ? ['nothing', '-', ''] : [caught.violation.invariant, caught.seed, caught.violation.what];
    say(`| ${mutation.name} | ${seen[0]} | ${seen[1]} | ${mutation.within} | ${String(seen[2]).slice(0, 160)} |`);
  }
  say(`${passed} of ${chosen.length} caught`);
  return passed === chosen.length;
}

function* batches(count: number): Iterable<Task> {
  for (let from = 1; from <= count; from += batchSize)
    yield { kind: 'seeds', from, count: Math.min(batchSize, count - from + 1) };
}
