import type { EntityState } from '../../../api/explain/explanation.ts';
import type { StatusItem } from '../../../api/explain/lists.ts';
import { waitsForOf } from '../waits-for.ts';
import type { StatusPod } from './status-pod.ts';

/** Derives the state of a pod that is in no group. */
export function podItem(pod: StatusPod): StatusItem {
  const { namespace, name, uid, condition, createdAt } = pod;
  const state = stateOf(pod);
  const verdict = condition?.status === 'False' ? condition : undefined;
  const waits = state === 'Waiting';
  const since = waits ? (verdict?.since ?? createdAt) : condition?.status === 'True' ? condition.since : undefined;
  return {
    subject: { kind: 'Pod', namespace, name, uid },
    state,
    ...(waits && { waitsFor: verdict === undefined ? 'unknown' : waitsForOf('Pod', verdict.reason, verdict.message) }),
    bound: state === 'Running' ? 1 : 0,
    minMember: 1,
    size: 1,
    ...(since !== undefined && { since }),
    ...(verdict !== undefined && waits && { reason: verdict.reason }),
    message: waits ? (verdict?.message ?? '') : '',
  };
}

function stateOf({ phase, nodeName, deleting }: StatusPod): EntityState {
  if (phase === 'Succeeded' || phase === 'Failed' || (deleting && nodeName === '')) return 'Finished';
  return nodeName === '' ? 'Waiting' : 'Running';
}
