import { isDeepStrictEqual } from 'node:util';
import type { ContenderName } from './contenders/contender.ts';
import type { PlannedRun } from './plan-runs.ts';
import type { BenchResults, RunResult } from './results.ts';
import { selectionKeys, selectionOf } from './selection.ts';
import type { Selection } from './selection.ts';

/**
 * Returns the selection of the execution with these results. Throws with a message for the user if the file lacks it, or if a given flag
 * contradicts it.
 */
export function resumedSelection(
  results: BenchResults,
  options: Selection & { readonly given: ReadonlySet<keyof Selection> },
): Selection {
  for (const key of selectionKeys) {
    const before: Selection[typeof key] | undefined = results[key];
    if (before === undefined) {
      throw new Error(`cannot resume: the file has no "${key}"; an older version of the benchmark wrote it`);
    }
    if (options.given.has(key) && !isDeepStrictEqual(options[key], before)) {
      throw new Error(
        `cannot resume with --${key} ${options[key].toString()}: the execution started with ${before.toString()}`,
      );
    }
  }
  return selectionOf(results);
}

/** Throws with a message for the user if runs of `now` are not comparable with those of `before`. */
export function checkResumable(
  before: BenchResults,
  now: Pick<BenchResults, 'machine' | 'versions' | 'workloads'>,
): void {
  for (const part of ['machine', 'versions'] as const) {
    const old: Readonly<Record<string, string | number>> = { ...before[part] };
    const current: Readonly<Record<string, string | number>> = { ...now[part] };
    for (const name of Object.keys({ ...old, ...current })) {
      const [was, is] = [old[name] ?? 'absent', current[name] ?? 'absent'];
      if (was !== is) throw new Error(`cannot resume, ${part} differ: ${name} was ${was} and is now ${is}`);
    }
  }
  if (!isDeepStrictEqual(before.workloads, now.workloads)) {
    throw new Error('cannot resume: the workloads have changed');
  }
}

/** Returns the planned runs without a result. Failed runs have a result. */
export function missingRuns(
  plan: readonly PlannedRun<ContenderName>[],
  runs: readonly RunResult[],
): readonly PlannedRun<ContenderName>[] {
  return plan.filter(
    ({ round, workload, contender }) =>
      !runs.some((run) => run.round === round && run.workload === workload.id && run.contender === contender),
  );
}
