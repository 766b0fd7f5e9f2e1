import type { Node, Taint } from '../api/node.ts';
import type { Pod } from '../api/pod.ts';
import { isTolerated } from '../api/tolerations.ts';

/** What Kubernetes puts on a node that does not run pods any more: not-ready, unreachable, or declared to be out of service. */
const lostTaints: readonly string[] = [
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/out-of-service',
];

function isLostTaint({ key }: Taint): boolean {
  return lostTaints.includes(key);
}

/** The node does not run pods, as its taints say. */
export function isNodeLost({ taints }: Node): boolean {
  return taints.length > 0 && taints.some(isLostTaint);
}

/**
 * Whether the node, which is lost, is so for this pod: one that asks for such nodes is at home there. That it may stay for a while
 * (NoExecute, as every pod is given it) is no such wish.
 */
export function isLostTo({ template }: Pod, { taints }: Node): boolean {
  return taints.some(
    (taint) => isLostTaint(taint) && !isTolerated({ ...taint, effect: 'NoSchedule' }, template.tolerations),
  );
}
