import { toKubernetesTime } from '../../api/kubernetes-time.ts';
import { conditionOf } from './job.ts';
import type { JobCondition, JobStatus } from './job.ts';

/** A condition that holds from now on. */
export function newCondition(
  type: string,
  reason: string,
  message: string,
  nowMs: number,
  status = 'True',
): JobCondition {
  const time = toKubernetesTime(nowMs);
  return { type, status, lastProbeTime: time, lastTransitionTime: time, reason, message };
}

/** Puts it in the place of the one of its type, or at the end. In place; whether that changes what is said. One that is not there need not be denied. */
export function setCondition(status: JobStatus, condition: JobCondition): boolean {
  const present = conditionOf(status, condition.type);
  if (present === undefined && condition.status === 'False') return false;
  const isSame = (['status', 'reason', 'message'] as const).every((field) => present?.[field] === condition[field]);
  if (present !== undefined && isSame) return false;
  const others = status.conditions ?? [];
  status.conditions =
    present === undefined ? [...others, condition] : others.map((each) => (each === present ? condition : each));
  return true;
}

/** The status as it is written: in one order, and without what the API takes for nothing. */
export function wireStatus(status: JobStatus): Record<string, unknown> {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const count = (value: number | undefined): number | undefined => (value === 0 ? undefined : value);
  const fields = {
    conditions: status.conditions?.length === 0 ? undefined : status.conditions,
    startTime: status.startTime,
    completionTime: status.completionTime,
    active: count(status.active),
    succeeded: count(status.succeeded),
    failed: count(status.failed),
    terminating: status.terminating,
    completedIndexes: status.completedIndexes === '' ? undefined : status.completedIndexes,
    failedIndexes: status.failedIndexes,
    uncountedTerminatedPods: status.uncountedTerminatedPods && {
      ...(succeeded.length > 0 && { succeeded }),
      ...(failed.length > 0 && { failed }),
    },
    ready: status.ready,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Whether both say the same. */
export function isSameStatus(a: JobStatus, b: JobStatus): boolean {
  const text = (status: JobStatus): string => {
    const { conditions = [], ...rest } = wireStatus(status);
    const said = (conditions as readonly JobCondition[]).map(({ type, status: state, reason = '', message = '' }) =>
      [type, state, reason, message].join('\0'),
    );
    return JSON.stringify([rest, said]);
  };
  return text(a) === text(b);
}
