// A thread that runs scenarios on the product, unchanged or with one defect applied.
import { parentPort, workerData } from 'node:worker_threads';
import { addCounts } from './batch.ts';
import type { Batch, BatchOutcome, FailedSeed } from './batch.ts';
import type { Depth } from './exhaustive.ts';
import type { Mutation } from './mutation.ts';
import { spoil } from './spoil.ts';

export interface WorkerOrders {
  readonly mutation?: Mutation;
}

export type Task =
  | (Batch & { readonly kind: 'seeds' })
  | { readonly kind: 'exhaustive'; readonly depth: Depth; readonly part: number; readonly of: number };

const { mutation } = workerData as WorkerOrders;
const spoiled = mutation && spoil(mutation);
// Import the product after the defect is in place.
const { drawScenario } = await import('./draw-scenario.ts');
const { runScenario } = await import('./run-scenario.ts');
spoiled?.assertApplied();

async function runSeeds({ from, count }: Batch): Promise<BatchOutcome> {
  const failed: FailedSeed[] = [];
  const struck: Record<string, number> = {};
  const excused: Record<string, number> = {};
  const placedBy: Record<string, number> = {};
  const preempted: Record<string, number> = {};
  const reserved: Record<string, number> = {};
  let [turns, lastedMs] = [0, 0];
  for (let seed = from; seed < from + count; seed++) {
    const outcome = await runScenario(drawScenario(seed));
    const [violation] = outcome.violations;
    if (violation !== undefined) failed.push({ seed, violation });
    addCounts(struck, outcome.struck);
    addCounts(excused, outcome.excused);
    addCounts(placedBy, outcome.placedBy);
    addCounts(preempted, outcome.preempted);
    addCounts(reserved, outcome.reserved);
    turns += outcome.turns;
    lastedMs += outcome.lastedMs;
  }
  return { runs: count, failed, struck, excused, placedBy, preempted, reserved, turns, lastedMs };
}

parentPort!.on('message', (task: Task) => {
  const running =
    task.kind === 'seeds'
      ? runSeeds(task)
      : import('./exhaustive.ts').then(({ runPart }) => runPart(task.depth, task.part, task.of));
  running.then(
    (outcome) => parentPort!.postMessage({ outcome }),
    (error: unknown) =>
      parentPort!.postMessage({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
parentPort!.postMessage({ ready: true });
