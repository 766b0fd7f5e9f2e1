import type { Candidate, QueueKey } from '../framework/candidate.ts';

/** What QueueSort compares of a candidate. A gang ranks by the lowest priority of its unbound members. */
export function sortKeyOf(candidate: Candidate, readySince: number): QueueKey {
  if (candidate.kind === 'pod') {
    return { priority: candidate.pod.priority, readySince, uid: candidate.pod.uid, incomplete: false };
  }
  const { gang } = candidate;
  let priority = Infinity;
  for (const pod of gang.pending.values()) priority = Math.min(priority, pod.priority);
  if (priority === Infinity) priority = 0;
  return { priority, readySince, uid: gang.spec?.uid ?? gang.key, incomplete: gang.incomplete };
}
