import type { Pod } from '../../../api/pod.ts';
import { Status } from '../../../framework/status.ts';

/**
 * The extenders' result for identical pods. Nodes that they did not return are rejected; nodes that they returned may get a
 * higher total. A subset can only narrow what the plugins allow.
 */
export interface NodeSubset {
  /** node name -> amount to add to its total; all other nodes are rejected */
  readonly allowed: ReadonlyMap<string, number>;
  /** node name -> why it is rejected; the scheduler did not send the remaining nodes to the extenders */
  readonly rejected: ReadonlyMap<string, Status>;
}

/** The node was not feasible when the scheduler called the extenders. */
export const notSentToExtenders = new Status('Unschedulable', {
  text: 'node(s) that the scheduler did not send to the extenders',
  code: 'NotPreselected',
});

/** For pods that the scheduler did not send to the extenders. */
export const nothingAllowed: NodeSubset = { allowed: new Map(), rejected: new Map() };

/** Returns the subset for a pod; undefined: no restriction. Identical pods get the same object. */
export type NodeSubsetOf = (pod: Pod) => NodeSubset | undefined;

/** Returns the nodes that both allow; undefined if neither restricts any pod. */
export function intersectSubsets(
  one: NodeSubsetOf | undefined,
  other: NodeSubsetOf | undefined,
): NodeSubsetOf | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  /** subset of the first -> subset of the second -> their intersection */
  const known = new Map<NodeSubset, Map<NodeSubset, NodeSubset>>();
  return (pod) => {
    const [a, b] = [one(pod), other(pod)];
    if (a === undefined || b === undefined) return a ?? b;
    const ofOne = known.get(a) ?? new Map<NodeSubset, NodeSubset>();
    known.set(a, ofOne);
    const both = ofOne.get(b) ?? intersection(a, b);
    ofOne.set(b, both);
    return both;
  };
}

/** If both reject a node, the reason in `a` wins. */
function intersection(a: NodeSubset, b: NodeSubset): NodeSubset {
  const allowed = new Map<string, number>();
  for (const [name, worth] of a.allowed) {
    const more = b.allowed.get(name);
    if (more !== undefined) allowed.set(name, worth + more);
  }
  return { allowed, rejected: new Map([...b.rejected, ...a.rejected]) };
}
