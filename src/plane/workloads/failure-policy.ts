import type { ExitCodesRule, FailureRule, Job } from './job.ts';
import { isTerminating } from './job-pod.ts';
import type { JobPod } from './job-pod.ts';

/** What follows from a pod that has failed. */
export interface FailureOutcome {
  /** Whether it counts towards the limits. */
  readonly counts: boolean;
  readonly failsIndex: boolean;
  /** Why the whole Job has failed with it; undefined: it has not. */
  readonly failsJob: string | undefined;
}

const counted: FailureOutcome = { counts: true, failsIndex: false, failsJob: undefined };

/**
 * Whether the pod has failed, or is gone before it could succeed, which counts as well where the Job replaces pods that are still
 * being deleted. One that never had a node has nobody who would say how it ended: in a cluster the collector of pods marks it as failed.
 */
export function hasFailed(pod: JobPod, { spec }: Job): boolean {
  if (pod.phase === 'Failed') return true;
  return isTerminating(pod) && (spec.podReplacementPolicy !== 'Failed' || !pod.isScheduled);
}

/** What the first rule of `spec.podFailurePolicy` that the failed pod meets says; without one it counts. */
export function failureOutcome({ spec }: Job, pod: JobPod): FailureOutcome {
  const rules = spec.podFailurePolicy?.rules ?? [];
  for (const [index, rule] of rules.entries()) {
    const why = matchOf(rule, pod);
    if (why === undefined) continue;
    switch (rule.action) {
      case 'Ignore':
        return { ...counted, counts: false };
      case 'FailIndex':
        return { ...counted, failsIndex: true };
      case 'FailJob':
        return { ...counted, failsJob: `${why} matching FailJob rule at index ${index}` };
      case 'Count':
        return counted;
    }
  }
  return counted;
}

/** In the words of the condition that a Job gets by it. */
function matchOf(rule: FailureRule, pod: JobPod): string | undefined {
  const who = `${pod.namespace}/${pod.name}`;
  if (rule.onExitCodes !== undefined) {
    const { onExitCodes } = rule;
    const exit = pod.exits.find(({ container, code }) => matchesExit(onExitCodes, container, code));
    return exit && `Container ${exit.container} for pod ${who} failed with exit code ${exit.code}`;
  }
  const met = pod.conditions.find(({ type, status }) =>
    rule.onPodConditions?.some((pattern) => pattern.type === type && pattern.status === status),
  );
  return met && `Pod ${who} has condition ${met.type}`;
}

function matchesExit({ containerName, operator, values }: ExitCodesRule, container: string, code: number): boolean {
  if (code === 0 || (containerName !== undefined && containerName !== container)) return false;
  return values.includes(code) === (operator === 'In');
}
