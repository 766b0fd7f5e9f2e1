import type { Pod } from '../../../api/pod.ts';
import { Status } from '../../../framework/status.ts';

/**
 * What extenders said about pods that are alike: nodes that they did not leave are rejected, and those that they did may be worth
 * more. It can only narrow what the plugins say.
 */
export interface NodeSubset {
  /** node name -> what is added to its total; all other nodes are rejected */
  readonly allowed: ReadonlyMap<string, number>;
  /** node name -> why it is rejected; the others because nobody was asked about them */
  readonly rejected: ReadonlyMap<string, Status>;
}

/** The node was no choice when the extenders were asked. */
export const notAsked = new Status('Unschedulable', 'node(s) that the extenders were not asked about');

/** For pods that nobody was asked about. */
export const nothingAllowed: NodeSubset = { allowed: new Map(), rejected: new Map() };

/** What is said about a pod; undefined: nothing. Of pods that are alike the same object. */
export type NodeSubsetOf = (pod: Pod) => NodeSubset | undefined;

/** The nodes that both leave; undefined where neither says anything. */
export function leftByBoth(one: NodeSubsetOf | undefined, other: NodeSubsetOf | undefined): NodeSubsetOf | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  /** what the one says -> what the other says -> both */
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

/** Of a node that both reject it is said what `a` says. */
function intersection(a: NodeSubset, b: NodeSubset): NodeSubset {
  const allowed = new Map<string, number>();
  for (const [name, worth] of a.allowed) {
    const more = b.allowed.get(name);
    if (more !== undefined) allowed.set(name, worth + more);
  }
  return { allowed, rejected: new Map([...b.rejected, ...a.rejected]) };
}
