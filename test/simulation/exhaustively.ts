import type { Depth, ExhaustiveOutcome } from './exhaustive.ts';
import { WorkerPool } from './worker-pool.ts';
import type { Task } from './worker.ts';

/** So many parts, so that progress shows, and no thread is left with the last big one or with more runs than its memory lets it. */
const parts: Readonly<Record<Depth, number>> = { singles: 200, pairs: 400 };

/** Every single fault, then every pair for the smallest gang; says the counts. False when something was violated. */
export async function exhaustively(workers: number, say: (line: string) => void): Promise<boolean> {
  const pool = new WorkerPool(workers);
  const failed = (await tryAll('singles', pool, say)) + (await tryAll('pairs', pool, say));
  await pool.close();
  return failed === 0;
}

/** How many failed. */
async function tryAll(depth: Depth, pool: WorkerPool, say: (line: string) => void): Promise<number> {
  const begun = performance.now();
  const what = depth === 'singles' ? 'single faults' : 'pairs of faults';
  let [tried, failed, done, saidAt] = [0, 0, 0, begun];
  await pool.run<ExhaustiveOutcome>(tasks(depth), (outcome) => {
    tried += outcome.runs;
    done++;
    for (const { name, violation } of outcome.failed) {
      failed++;
      say(`${violation.invariant}: ${violation.what}`);
      say(`  npm run simulate -- --case "${name}" --trace`);
    }
    if (performance.now() - saidAt > 30_000) {
      saidAt = performance.now();
      say(`${done} of ${parts[depth]} parts: ${tried} ${what}, ${failed} violated`);
    }
    return true;
  });
  say(`${tried} ${what}, ${failed} violated; ${Math.round((performance.now() - begun) / 1000)} s`);
  return failed;
}

function* tasks(depth: Depth): Iterable<Task> {
  const of = parts[depth];
  for (let part = 0; part < of; part++) yield { kind: 'exhaustive', depth, part, of };
}
