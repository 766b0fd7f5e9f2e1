import type { Depth, ExhaustiveOutcome } from './exhaustive.ts';
import { WorkerPool } from './worker-pool.ts';
import type { Task } from './worker.ts';

/**
 * Number of parts: enough to show progress, to spread the last work over all threads, and to stay within the runs that a thread's memory
 * allows.
 */
const parts: Readonly<Record<Depth, number>> = { singles: 200, pairs: 400 };

/** Runs every single fault, then every pair for the smallest gang, and prints the counts. Returns false when an invariant was violated. */
export async function exhaustively(workers: number, print: (line: string) => void): Promise<boolean> {
  const pool = new WorkerPool(workers);
  const failed = (await tryAll('singles', pool, print)) + (await tryAll('pairs', pool, print));
  await pool.close();
  return failed === 0;
}

/** Returns the number of failed runs. */
async function tryAll(depth: Depth, pool: WorkerPool, print: (line: string) => void): Promise<number> {
  const begun = performance.now();
  const what = depth === 'singles' ? 'single faults' : 'pairs of faults';
  let [tried, failed, done, printedAt] = [0, 0, 0, begun];
  await pool.run<ExhaustiveOutcome>(tasks(depth), (outcome) => {
    tried += outcome.runs;
    done++;
    for (const { name, violation } of outcome.failed) {
      failed++;
      print(`${violation.invariant}: ${violation.what}`);
      print(`  npm run simulate -- --case "${name}" --trace`);
    }
    if (performance.now() - printedAt > 30_000) {
      printedAt = performance.now();
      print(`${done} of ${parts[depth]} parts: ${tried} ${what}, ${failed} violated`);
    }
    return true;
  });
  print(`${tried} ${what}, ${failed} violated; ${Math.round((performance.now() - begun) / 1000)} s`);
  return failed;
}

function* tasks(depth: Depth): Iterable<Task> {
  const of = parts[depth];
  for (let part = 0; part < of; part++) yield { kind: 'exhaustive', depth, part, of };
}
