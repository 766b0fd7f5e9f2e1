// npm run simulate: see README.md in this folder.
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { addCounts } from './batch.ts';
import type { BatchOutcome, FailedSeed } from './batch.ts';
import { drawScenario } from './draw-scenario.ts';
import { parseCase } from './exhaustive.ts';
import { exhaustively } from './exhaustively.ts';
import { tryMutations } from './try-mutations.ts';
import { runScenario } from './run-scenario.ts';
import { callFaults, tricks, watchFaults } from './scenario.ts';
import { formatKept, keep, parseKept, shrink } from './shrink.ts';
import { WorkerPool } from './worker-pool.ts';
import type { Task } from './worker.ts';

const usage = `usage: npm run simulate -- WHAT

  --seeds N [--from N]       run N seeds, from 1 or from the given seed
  --seed N [--only s0,f1]    run one seed, or only these steps and faults of it
           [--trace]         and print every event
  --exhaustive               run every fault at every call of the small scenarios
  --case TEXT [--trace]      run one of these cases
  --mutations [NAME...]      check that every deliberate defect is caught, or only these
           [--seeds N]       within at most N seeds each
  --workers N                number of threads; default: the number of processors`;

const batchSize = 20;
/** What preemptions must go through in 100,000 seeds -> how often at least. */
const minimums: Readonly<Record<string, number>> = {
  'plans with victims': 20_000,
  'plans with whole gangs': 5_000,
  'plans displaced': 2_000,
  'plans expired': 1_000,
  'crashes in plans': 1_000,
  'Leases lost in plans': 500,
};
/** The same for reservations with a predicted start. */
const reservedMinimums: Readonly<Record<string, number>> = {
  'turns given': 10_000,
  'turns started': 5_000,
  'turns displaced': 1_000,
  overruns: 1_000,
};
/** Maximum number of failed seeds to shrink; further ones are only listed. */
const maxShrunk = 3;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function wholeNumber(text: string | undefined, flag: string, min: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= min) return value;
  process.stderr.write(`${flag} ${text}: must be an integer of at least ${min}\n`);
  process.exit(2);
}

function* batches(from: number, count: number): Iterable<Task> {
  for (let at = from; at < from + count; at += batchSize) {
    yield { kind: 'seeds', from: at, count: Math.min(batchSize, from + count - at) };
  }
}

async function runMany(from: number, count: number, workers: number): Promise<boolean> {
  const begun = performance.now();
  const pool = new WorkerPool(workers);
  const failed: FailedSeed[] = [];
  const struck: Record<string, number> = {};
  const excused: Record<string, number> = {};
  const placedBy: Record<string, number> = {};
  const preempted: Record<string, number> = {};
  const reserved: Record<string, number> = {};
  let [runs, turns, lastedMs, printedAt] = [0, 0, 0, begun];
  await pool.run<BatchOutcome>(batches(from, count), (outcome) => {
    runs += outcome.runs;
    turns += outcome.turns;
    lastedMs += outcome.lastedMs;
    failed.push(...outcome.failed);
    addCounts(struck, outcome.struck);
    addCounts(excused, outcome.excused);
    addCounts(placedBy, outcome.placedBy);
    addCounts(preempted, outcome.preempted);
    addCounts(reserved, outcome.reserved);
    for (const { seed, violation } of outcome.failed) print(`seed ${seed}: ${violation.invariant}: ${violation.what}`);
    if (performance.now() - printedAt > 30_000) {
      printedAt = performance.now();
      print(`${runs} of ${count} seeds, ${failed.length} violated, ${Math.round((printedAt - begun) / 1000)} s`);
    }
    return true;
  });
  await pool.close();
  const seconds = (performance.now() - begun) / 1000;
  print('');
  table(
    'what happened',
    [
      ...callFaults.map((kind) => `call/${kind}`),
      ...watchFaults.map((kind) => `watch/${kind}`),
      ...tricks.map((trick) => `trick/${trick}`),
    ],
    struck,
  );
  table('excused', [], excused);
  table('gangs placed by', [], placedBy);
  table('preemption', Object.keys(minimums), preempted);
  table('turns', Object.keys(reservedMinimums), reserved);
  const isRare = [
    ...Object.entries(minimums).filter(([what, per100k]) => isTooRare(preempted[what] ?? 0, per100k, runs)),
    ...Object.entries(reservedMinimums).filter(([what, per100k]) => isTooRare(reserved[what] ?? 0, per100k, runs)),
  ];
  for (const [what, per100k] of isRare) print(`too few ${what}: at least ${per100k} in 100,000 seeds are expected`);
  const hours = lastedMs / 3_600_000;
  print(
    `${runs} seeds, ${failed.length} violated; ${seconds.toFixed(0)} s on ${workers} threads (${((seconds * 1000 * workers) / runs).toFixed(1)} ms a seed and thread), ` +
      `${turns} turns, ${hours.toFixed(0)} virtual hours`,
  );
  for (const { seed } of failed.slice(0, maxShrunk)) await explain(seed);
  return failed.length === 0 && isRare.length === 0;
}

/** Reports whether something happened too rarely. In a short run, chance counts; one that should show it only a few times proves nothing. */
function isTooRare(count: number, per100k: number, runs: number): boolean {
  const expected = (per100k * runs) / 100_000;
  const chance = runs < 100_000 ? 3 * Math.sqrt(expected) : 0;
  return expected >= 10 && count < expected - chance;
}

/** Prints the counts, including names that never occurred. */
function table(title: string, names: readonly string[], counts: Readonly<Record<string, number>>): void {
  const all = [...new Set([...names, ...Object.keys(counts)])].sort();
  if (all.length === 0) return;
  print(`${title}:`);
  for (const name of all) print(`  ${String(counts[name] ?? 0).padStart(8)}  ${name}`);
}

/** Prints the smallest form of the violation of a seed, and how to reproduce it. */
async function explain(seed: number): Promise<void> {
  const scenario = drawScenario(seed);
  const [violation] = (await runScenario(scenario)).violations;
  if (violation === undefined) {
    print(`seed ${seed} violates nothing when run alone: the simulation is not deterministic`);
    return;
  }
  const smallest = await shrink(scenario, violation);
  print('');
  print(
    `seed ${seed}, ${smallest.violation.invariant} at ${smallest.violation.at.toFixed(0)} ms: ${smallest.violation.what}`,
  );
  const { steps, faults } = keep(scenario, smallest.kept);
  for (const part of [...steps, ...faults]) print(`  ${JSON.stringify(part)}`);
  print(`  npm run simulate -- --seed ${seed}`);
  print(`  npm run simulate -- --seed ${seed} --only ${formatKept(smallest.kept)} --trace`);
}

async function replayCase(text: string, traces: boolean): Promise<boolean> {
  const scenario = orReject('--case', () => parseCase(text));
  const outcome = await runScenario(scenario, traces ? { trace: print } : {});
  for (const { invariant, at, what } of outcome.violations) print(`${invariant} at ${at.toFixed(0)} ms: ${what}`);
  print(`${text}: ${outcome.violations.length} violated, digest ${outcome.digest}, ${outcome.turns} turns`);
  return outcome.violations.length === 0;
}

/** Returns the parsed flag, or exits with the error message. */
function orReject<T>(flag: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    process.stderr.write(`${flag}: ${(error as Error).message}\n`);
    return process.exit(2);
  }
}

async function replay(seed: number, only: string | undefined, traces: boolean): Promise<boolean> {
  let scenario = drawScenario(seed);
  if (only !== undefined) scenario = orReject('--only', () => keep(scenario, parseKept(only, scenario)));
  if (traces) print(JSON.stringify(scenario, undefined, 2));
  const outcome = await runScenario(scenario, traces ? { trace: print } : {});
  for (const { invariant, at, what } of outcome.violations) print(`${invariant} at ${at.toFixed(0)} ms: ${what}`);
  print(`seed ${seed}: ${outcome.violations.length} violated, digest ${outcome.digest}, ${outcome.turns} turns`);
  if (outcome.violations.length > 0 && only === undefined) await explain(seed);
  return outcome.violations.length === 0;
}

const { values, positionals } = parseArgs({
  options: {
    seeds: { type: 'string' },
    from: { type: 'string' },
    seed: { type: 'string' },
    only: { type: 'string' },
    trace: { type: 'boolean' },
    exhaustive: { type: 'boolean' },
    case: { type: 'string' },
    mutations: { type: 'boolean' },
    workers: { type: 'string' },
  },
  allowPositionals: true,
});
const workers = wholeNumber(values.workers, '--workers', 1) ?? availableParallelism();
const seed = wholeNumber(values.seed, '--seed', 0);
const seeds = wholeNumber(values.seeds, '--seeds', 1);
let passed: boolean;
if (seed !== undefined) passed = await replay(seed, values.only, values.trace === true);
else if (values.case !== undefined) passed = await replayCase(values.case, values.trace === true);
else if (values.exhaustive === true) passed = await exhaustively(workers, print);
else if (values.mutations === true) passed = await tryMutations({ workers, names: positionals, most: seeds, print });
else if (seeds !== undefined) passed = await runMany(wholeNumber(values.from, '--from', 0) ?? 1, seeds, workers);
else {
  process.stderr.write(`${usage}\n`);
  process.exit(2);
}
process.exit(passed ? 0 : 1);
