import { expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { parseOptions } from './options.ts';
import { planRuns } from './plan-runs.ts';
import { checkResumable, missingRuns, resumedSelection } from './resume.ts';
import { formatResults } from './results.ts';
import type { BenchResults, RunResult } from './results.ts';
import { selectionOf } from './selection.ts';
import { workloadsOf } from './workload.ts';

const parse = (...args: string[]): ReturnType<typeof parseOptions> => parseOptions(args, () => 42);

/** Returns the results of an execution with these flags, as read from a file. */
function resultsOf(flags: readonly string[], runs: readonly RunResult[] = []): BenchResults {
  const selection = selectionOf(parse(...flags));
  const machine = { cpu: 'a processor', cores: 2, memoryGb: 8, kernel: '6', node: '24', go: '1.26' };
  const versions = { tutti: '0.1.0 (build 0123456789)', etcd: '3.6.12' };
  const results = { date: '2026-01-02', ...selection, machine, versions, workloads: workloadsOf(selection), runs };
  return JSON.parse(formatResults(results)) as BenchResults;
}

it('reads the selection from the file, whatever the defaults', () => {
  const flags = ['--rounds', '2', '--nodes', '10,20', '--seed', '7', '--only', '^tutti/', '--profile'];
  const results = resultsOf(flags);
  expect(resumedSelection(results, parse())).toEqual(selectionOf(parse(...flags)));
  expect(resumedSelection(results, parse(...flags))).toEqual(selectionOf(parse(...flags)));
});

it('rejects a flag that contradicts the file, and names both values', () => {
  const results = resultsOf(['--seed', '7']);
  const resumeWith =
    (...flags: string[]): (() => unknown) =>
    () =>
      resumedSelection(results, parse(...flags));
  expect(resumeWith('--seed', '8')).toThrow('cannot resume with --seed 8: the execution started with 7');
  expect(resumeWith('--nodes', '1000')).toThrow(
    'cannot resume with --nodes 1000: the execution started with 1000,5000',
  );
  expect(resumeWith('--quick')).toThrow('--quick');
  expect(resumeWith('--rounds', '1')).toThrow('--rounds');
  expect(resumeWith('--only', 'gang4')).toThrow('--only');
  expect(resumeWith('--profile')).toThrow('--profile');
});

it('rejects a file without a selection', () => {
  const { nodes: _, ...older } = resultsOf([]);
  expect(() => resumedSelection(older as BenchResults, parse())).toThrow('the file has no "nodes"');
});

it('rejects another build, machine or workload, and names the difference', () => {
  const before = resultsOf([]);
  expect(() => checkResumable(before, resultsOf([]))).not.toThrow();
  const versions = { ...before.versions, tutti: '0.1.0 (build 9876543210)' };
  expect(() => checkResumable(before, { ...before, versions })).toThrow(
    'versions differ: tutti was 0.1.0 (build 0123456789) and is now 0.1.0 (build 9876543210)',
  );
  expect(() => checkResumable(before, { ...before, versions: { tutti: '0.1.0 (build 0123456789)' } })).toThrow(
    'etcd was 3.6.12 and is now absent',
  );
  expect(() => checkResumable(before, { ...before, machine: { ...before.machine, cores: 4 } })).toThrow(
    'cores was 2 and is now 4',
  );
  const workloads = before.workloads.map((workload) => ({ ...workload, nodeCpu: 64 }));
  expect(() => checkResumable(before, { ...before, workloads })).toThrow('workloads have changed');
});

it('runs only what has no result yet, in the planned order, and does not repeat failed runs', () => {
  const selection = parse('--seed', '7');
  const plan = planRuns(workloadsOf(selection), ['tutti', 'kube-scheduler'] as const, 2, seededRandom(selection.seed));
  const failed = plan.slice(0, 5).map(({ round, workload, contender }): RunResult => {
    return { round, workload: workload.id, contender, failure: 'ended' };
  });
  expect(missingRuns(plan, [])).toEqual(plan);
  expect(missingRuns(plan, failed)).toEqual(plan.slice(5));
});
