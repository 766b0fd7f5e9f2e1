/**
 * A day on a made-up cluster of 512 nodes with 8 GPUs each, on a virtual clock: how long jobs of each size wait, and how much of the cluster they
 * use, with Tutti and with modeled schedulers.
 *
 *     npm run day -- --seed 1
 */
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { parseArgs } from 'node:util';
import type { DayScheduler } from './day-scheduler.ts';
import { figuresOf } from './figures.ts';
import type { DayFigures } from './figures.ts';
import { drawJobs } from './job-mix.ts';
import { sizeClasses } from './job.ts';
import type { Job } from './job.ts';
import { Easy, Ideal, StrictFifo } from './modeled-schedulers.ts';
import { runDay } from './run-day.ts';
import { Tutti } from './tutti.ts';
import { parseTrace } from './workload-trace.ts';
import type { Trace } from './workload-trace.ts';

const usage = `npm run day -- [flags]

  --seed N        first seed of the days; default 1
  --seeds N       number of days, with consecutive seeds; default 5
  --row TEXT      only the schedulers whose name contains the text
  --load N        load in percent; default: 80, 95 and 105, one table each
  --trace FILE    the jobs of a trace in the Standard Workload Format instead; each processor is a member with one GPU
  --help          print this`;

interface Row {
  readonly title: string;
  /** Largest error of the declared run times. Undefined: the scheduler does not read them. */
  readonly declaredError?: number;
  readonly scheduler: () => DayScheduler;
  /** Each class has a cluster to itself, so the utilization says nothing. */
  readonly hasManyClusters?: boolean;
}

const rows: readonly Row[] = [
  { title: 'strict order', scheduler: () => new StrictFifo() },
  { title: 'Tutti, default scores', scheduler: () => new Tutti('spread') },
  { title: 'Tutti, MostAllocated', scheduler: () => new Tutti('pack') },
  ...[0, 0.3, 1].map((declaredError) => ({
    title: `Tutti with reservations, run times ± ${declaredError * 100}%`,
    declaredError,
    scheduler: () => new Tutti('pack', { hasReservations: true }),
  })),
  ...[0, 0.3, 1].map((declaredError) => ({
    title: `EASY backfill, run times ± ${declaredError * 100}%`,
    declaredError,
    scheduler: () => new Easy(),
  })),
  { title: 'ideal: each class alone', scheduler: () => new Ideal(), hasManyClusters: true },
];

/** Runs the row with the jobs of each day, and prints it. */
async function printRow(
  { title, scheduler, hasManyClusters = false }: Row,
  days: readonly (readonly Job[])[],
): Promise<void> {
  const finished = [];
  for (const jobs of days) finished.push(await runDay(scheduler(), jobs));
  process.stdout.write(`| ${title} | ${cellsOf(figuresOf(finished), !hasManyClusters).join(' | ')} |\n`);
}

function cellsOf({ waits, utilization, predictions }: DayFigures, isOneCluster: boolean): string[] {
  const minutes = (ms: number): string => (ms / 60_000).toFixed(ms < 600_000 ? 1 : 0);
  const byClass = sizeClasses.map((size) => `${minutes(waits[size].median)} / ${minutes(waits[size].p99)}`);
  const late = predictions === undefined ? '–' : `${predictions.missed} of ${predictions.count}`;
  const error = predictions === undefined ? '–' : `${(100 * predictions.medianError).toFixed(0)}%`;
  return [...byClass, minutes(waits.large.max), isOneCluster ? `${(100 * utilization).toFixed(1)}%` : '–', late, error];
}

function printHeader(title: string): void {
  const columns = [
    ...sizeClasses.map((size) => `${size}: wait, median / p99`),
    'large: longest wait',
    'utilization',
    'started after the first prediction',
    'median error of it',
  ];
  process.stdout.write(
    `\n${title}; waits in minutes\n\n| scheduler | ${columns.join(' | ')} |\n|${' --- |'.repeat(columns.length + 1)}\n`,
  );
}

class UsageError extends Error {}

function wholeNumber(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new UsageError(`--${flag} must be an integer of at least 1 (got "${text}")`);
}

type TextFlag = 'seed' | 'seeds' | 'load' | 'row' | 'trace';

function parseFlags(): Partial<Record<TextFlag, string>> & { readonly help?: boolean } {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      options: { seed: text, seeds: text, load: text, row: text, trace: text, help: { type: 'boolean' } },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

async function runTrace(path: string): Promise<void> {
  let trace: Trace;
  try {
    trace = parseTrace(await readFile(path, 'utf8'));
  } catch (error) {
    throw new UsageError(`--trace ${path}: ${(error as Error).message}`, { cause: error });
  }
  printHeader(`${path}: ${trace.jobs.length} jobs, ${trace.skipped} skipped`);
  for (const row of rows.filter(({ declaredError = 0 }) => declaredError === 0)) await printRow(row, [trace.jobs]);
}

async function runDays(first: number, count: number, loads: readonly number[], named: string): Promise<void> {
  const seeds = Array.from({ length: count }, (_, i) => first + i);
  for (const percent of loads) {
    printHeader(`${percent}% load, ${count} days from seed ${first}`);
    for (const row of rows.filter(({ title }) => title.includes(named))) {
      const { declaredError = 0 } = row;
      await printRow(
        row,
        seeds.map((seed) => drawJobs({ seed, load: percent / 100, declaredError })),
      );
    }
  }
}

async function main(): Promise<void> {
  const { seed = '1', seeds = '5', load, row = '', trace, help } = parseFlags();
  if (help) process.stdout.write(`${usage}\n`);
  else if (trace !== undefined) await runTrace(trace);
  else {
    const loads = load === undefined ? [80, 95, 105] : [wholeNumber('load', load)];
    await runDays(wholeNumber('seed', seed), wholeNumber('seeds', seeds), loads, row);
  }
}

try {
  await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n\n${usage}\n`);
  process.exitCode = 2;
}
