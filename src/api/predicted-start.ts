import { latestTimeMs, toKubernetesTime } from './kubernetes-time.ts';
import type { RawCondition } from './pod.ts';
import type { PredictedStart, StartConfidence } from './verdict.ts';

/**
 * Type of the pod condition with the predicted start of the pod's entity: status True, the confidence as reason, and as message the time
 * in RFC 3339, or nothing if there is none yet. The scheduler writes it with the verdict, to the first pod of the entity; the controller
 * copies it to the PodGroup. Once the pod is bound, it has no meaning.
 */
export const predictedStartCondition = 'tutti.dev/PredictedStart';

export const startConfidences: readonly StartConfidence[] = ['Declared', 'Estimated', 'Draining'];

/** Returns the time as the API shows it; empty if there is none. */
export function startTimeOf({ at }: PredictedStart): string {
  return at === undefined ? '' : toKubernetesTime(at);
}

/** Returns the predicted start among the conditions of a pod. Ignores a condition that the scheduler does not write in this form. */
export function predictedStartOf(conditions: readonly RawCondition[] | undefined): PredictedStart | undefined {
  const condition = conditions?.find(({ type }) => type === predictedStartCondition);
  const confidence = startConfidences.find((known) => known === condition?.reason);
  if (condition?.status !== 'True' || confidence === undefined) return undefined;
  const { message = '' } = condition;
  if (message === '') return confidence === 'Draining' ? { confidence } : undefined;
  const at = Date.parse(message);
  return at >= 0 && at <= latestTimeMs && toKubernetesTime(at) === message ? { at, confidence } : undefined;
}

/** Returns whether the API shows both in the same way. */
export function sameStart(a: PredictedStart | undefined, b: PredictedStart | undefined): boolean {
  return a?.confidence === b?.confidence && a?.at === b?.at;
}
