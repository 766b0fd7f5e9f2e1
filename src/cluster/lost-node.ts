import type { Node, Taint } from '../api/node.ts';
import type { Pod } from '../api/pod.ts';
import { isTolerated } from '../api/tolerations.ts';

/** Taints of a node that does not run pods anymore: not ready, unreachable, or out of service. */
const lostTaints: readonly string[] = [
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/out-of-service',
];

function isLostTaint({ key }: Taint): boolean {
  return lostTaints.includes(key);
}

/** Returns whether the node's taints indicate that it does not run pods. */
export function isNodeLost({ taints }: Node): boolean {
  return taints.length > 0 && taints.some(isLostTaint);
}

/**
 * Returns whether the pod loses this lost node. A pod that tolerates the taint with NoSchedule is meant to run on such nodes. A NoExecute
 * toleration, which every pod gets by default, only lets the pod stay for a while, so it does not count.
 */
export function isLostTo({ template }: Pod, { taints }: Node): boolean {
  return taints.some(
    (taint) => isLostTaint(taint) && !isTolerated({ ...taint, effect: 'NoSchedule' }, template.tolerations),
  );
}
