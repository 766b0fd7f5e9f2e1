import type { ExhaustiveOutcome, FailedCase } from './exhaustive.ts';
import { WorkerPool } from './worker-pool.ts';
import type { Task } from './worker.ts';

/** So many parts, so that progress shows and no thread is left with the last big one. */
const parts = 200;

/** Every single fault, and every pair for the smallest gang; says the counts. False when something was violated. */
export async function exhaustively(workers: number, say: (line: string) => void): Promise<boolean> {
  const begun = performance.now();
  const pool = new WorkerPool(workers);
  const failed: FailedCase[] = [];
  let [singles, pairs, done, saidAt] = [0, 0, 0, begun];
  await pool.run<ExhaustiveOutcome>(tasks(), (outcome) => {
    singles += outcome.singles;
    pairs += outcome.pairs;
    done++;
    for (const each of outcome.failed) {
      failed.push(each);
      say(`${each.violation.invariant}: ${each.violation.what}`);
      say(`  npm run simulate -- --case "${each.name}" --trace`);
    }
    if (performance.now() - saidAt > 30_000) {
      saidAt = performance.now();
      say(`${done} of ${parts} parts: ${singles} single faults, ${pairs} pairs, ${failed.length} violated`);
    }
    return true;
  });
  await pool.close();
  const seconds = Math.round((performance.now() - begun) / 1000);
  say(`${singles} single faults, ${pairs} pairs, ${failed.length} violated; ${seconds} s on ${workers} threads`);
  return failed.length === 0;
}

function* tasks(): Iterable<Task> {
  for (let part = 0; part < parts; part++) yield { kind: 'exhaustive', part, of: parts };
}
