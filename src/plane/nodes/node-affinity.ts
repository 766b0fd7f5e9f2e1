import { compileNodeSelectorTerm, SelectorError } from '../../api/label-selector.ts';
import type { SelectableNode } from '../../api/label-selector.ts';
import type { KubeletPod } from './kubelet-pod.ts';
import type { Rejection } from './node-capacity.ts';

export const affinityRejection: Rejection = {
  reason: 'NodeAffinity',
  message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
};

/** Whether the pod's nodeSelector and required node affinity match this node. An invalid term matches no node. */
export function allowsNode(pod: KubeletPod, node: SelectableNode): boolean {
  for (const [key, value] of Object.entries(pod.nodeSelector)) if (node.labels[key] !== value) return false;
  if (pod.requiredTerms === undefined) return true;
  return pod.requiredTerms.some((term) => {
    try {
      return compileNodeSelectorTerm(term)(node);
    } catch (error) {
      if (error instanceof SelectorError) return false;
      throw error;
    }
  });
}
