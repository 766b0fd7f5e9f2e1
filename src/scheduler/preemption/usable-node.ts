import type { Pod } from '../../api/pod.ts';
import { isTolerated } from '../../api/tolerations.ts';
import { isLostTo } from '../../cluster/lost-node.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';

/** Taint of a cordoned node. A pod that tolerates it accepts `spec.unschedulable`. */
const cordonTaint = { key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' } as const;

/** Returns whether the node takes pods like this one: it exists, is neither cordoned nor lost, and has no taint that keeps the pod off. */
export function isUsableFor(pod: Pod, info: NodeInfo | undefined): boolean {
  if (info === undefined || isLostTo(pod, info.node)) return false;
  const { taints, unschedulable } = info.node;
  const { tolerations } = pod.template;
  if (unschedulable && !isTolerated(cordonTaint, tolerations)) return false;
  return taints.every((taint) => taint.effect === 'PreferNoSchedule' || isTolerated(taint, tolerations));
}
