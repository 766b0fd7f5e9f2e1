import { IndexSet } from './index-set.ts';
import type { Job } from './job.ts';

/** Why a Job has succeeded by its `spec.successPolicy`; undefined when it has not. */
export function successByPolicy({ spec }: Job, succeeded: IndexSet): string | undefined {
  if (succeeded.size === 0) return undefined;
  const met = spec.successPolicy?.rules.findIndex(({ succeededIndexes, succeededCount = Infinity }) => {
    if (succeededIndexes === undefined) return succeeded.size >= succeededCount;
    const wanted = IndexSet.parse(succeededIndexes, spec.completions ?? 0);
    const reached = wanted.common(succeeded);
    return wanted.size > 0 && (reached === wanted.size || reached >= succeededCount);
  });
  return met === undefined || met < 0 ? undefined : `Matched rules at index ${met}`;
}
