import { isDeepStrictEqual } from 'node:util';
import type { ContenderName } from './contenders/contender.ts';
import type { PlannedRun } from './plan-runs.ts';
import type { BenchResults, RunResult } from './results.ts';
import { selectionKeys, selectionOf } from './selection.ts';
import type { Selection } from './selection.ts';

/**
 * What the execution with these results was to run. Throws with a message for the user when the file does not say it, or when
 * one of the flags that were given says otherwise.
 */
export function resumedSelection(
  results: BenchResults,
  options: Selection & { readonly given: ReadonlySet<keyof Selection> },
): Selection {
  for (const key of selectionKeys) {
    const before: Selection[typeof key] | undefined = results[key];
    if (before === undefined) {
      throw new Error(`cannot be resumed: the file has no "${key}", it is of an older version of the benchmark`);
    }
    if (options.given.has(key) && !isDeepStrictEqual(options[key], before)) {
      throw new Error(
        `cannot be resumed with --${key} ${options[key].toString()}: it was begun with ${before.toString()}`,
      );
    }
  }
  return selectionOf(results);
}

/** Throws with a message for the user when runs of `now` must not stand beside those of `before`. */
export function checkResumable(
  before: BenchResults,
  now: Pick<BenchResults, 'machine' | 'versions' | 'workloads'>,
): void {
  for (const part of ['machine', 'versions'] as const) {
    const old: Readonly<Record<string, string | number>> = { ...before[part] };
    const current: Readonly<Record<string, string | number>> = { ...now[part] };
    for (const name of Object.keys({ ...old, ...current })) {
      const [was, is] = [old[name] ?? 'absent', current[name] ?? 'absent'];
      if (was !== is) throw new Error(`cannot be resumed, ${part} differ: ${name} was ${was} and is now ${is}`);
    }
  }
  if (!isDeepStrictEqual(before.workloads, now.workloads)) {
    throw new Error('cannot be resumed: the workloads have been changed since');
  }
}

/** Those that have no result yet; one that failed has. */
export function missingRuns(
  plan: readonly PlannedRun<ContenderName>[],
  runs: readonly RunResult[],
): readonly PlannedRun<ContenderName>[] {
  return plan.filter(
    ({ round, workload, contender }) =>
      !runs.some((run) => run.round === round && run.workload === workload.id && run.contender === contender),
  );
}
