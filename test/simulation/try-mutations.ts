import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { BatchOutcome, FailedSeed } from './batch.ts';
import { defectVariable } from './defect-in-tests.ts';
import type { Mutation } from './mutation.ts';
import { mutations } from './mutations.ts';
import { MutationError } from './spoil.ts';
import { WorkerPool } from './worker-pool.ts';
import type { Task } from './worker.ts';

/** Number of seeds per task: few, so that the run ends soon after the first seed that catches the defect. */
const batchSize = 4;

export interface MutationOutcome {
  readonly mutation: Mutation;
  /** The first seed, or the test, that caught it; undefined: none. */
  readonly caught: (Omit<FailedSeed, 'seed'> & { readonly seed: number | string }) | undefined;
  readonly seeds: number;
}

/** Runs the test on the product with the defect. Returns undefined if it passes, and throws MutationError if it does not run. */
function failedTest({ name }: Mutation, test: NonNullable<Mutation['test']>): MutationOutcome['caught'] {
  const vitest = fileURLToPath(new URL('vitest.mjs', import.meta.resolve('vitest/package.json')));
  const pattern = `^${test.name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}$`;
  const folder = mkdtempSync(path.join(tmpdir(), 'defect-'));
  const outputFile = path.join(folder, 'report.json');
  const args = [vitest, 'run', '--project', 'unit*', test.file, '-t', pattern, '--maxWorkers', '1'];
  args.push('--reporter', 'json', '--outputFile', outputFile);
  const env = { ...process.env, [defectVariable]: name };
  const cwd = fileURLToPath(new URL('../../', import.meta.url));
  spawnSync(process.execPath, args, { cwd, env, stdio: 'ignore' });
  const report = JSON.parse(readFileSync(outputFile, 'utf8')) as { numFailedTests: number; numPassedTests: number };
  rmSync(folder, { recursive: true });
  if (report.numFailedTests + report.numPassedTests !== 1)
    throw new MutationError(`${name}: ${test.file} has no test "${test.name}"`);
  if (report.numFailedTests === 0) return undefined;
  return { seed: 'test', violation: { invariant: 'test', at: 0, what: test.name } };
}

/** Runs seeds, from 1, on the product with the defect until one catches it. */
export async function tryMutation(
  mutation: Mutation,
  workers: number,
  most = mutation.within ?? 0,
): Promise<MutationOutcome> {
  if (mutation.test !== undefined) return { mutation, caught: failedTest(mutation, mutation.test), seeds: 0 };
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
    const { caught } = await tryMutation(mutation, workers, Math.min(most, mutation.within ?? 0));
    if (caught !== undefined) passed++;
    const seen =
      caught === undefined ? ['nothing', '-', ''] : [caught.violation.invariant, caught.seed, caught.violation.what];
    print(
      `| ${mutation.name} | ${seen[0]} | ${seen[1]} | ${mutation.within ?? 'test'} | ${String(seen[2]).slice(0, 160)} |`,
    );
  }
  print(`${passed} of ${chosen.length} caught`);
  return passed === chosen.length;
}

function* batches(count: number): Iterable<Task> {
  for (let from = 1; from <= count; from += batchSize)
    yield { kind: 'seeds', from, count: Math.min(batchSize, count - from + 1) };
}
