import type { StoreRecord } from '../world/record.ts';
import type { Obstacles } from './capacity-of-others.ts';
import { PlainCapacity } from './plain-fit.ts';
import { claimsIn, closed, podsIn, takenCapacity, usableNodes } from './plain-group.ts';
import type { View } from './plain-group.ts';
import type { PlainPod } from './plain-objects.ts';
import { mayBlock } from './plain-turns.ts';
import type { PlainTurn } from './plain-turns.ts';
import type { Beneficiary } from './preemption-record.ts';

interface Surroundings extends Obstacles {
  /** Pods that use no capacity any more. */
  readonly isGone: (pod: PlainPod) => boolean;
  /** uid of an unbound pod that uses capacity -> its node */
  readonly coming: ReadonlyMap<string, string>;
}

/**
 * Reports whether the planner certainly finds nodes for the beneficiary by the view. `avoided`: names of nodes that it may not use; `turns`:
 * those for which capacity is reserved.
 */
export function isFoundFor(
  record: StoreRecord,
  { waiting, needed, priority }: Beneficiary,
  view: View,
  {
    forbiddenNode,
    refused = [],
    areZonesPools = false,
    avoided,
    turns,
    ...surroundings
  }: Surroundings & { readonly avoided: readonly string[]; readonly turns: readonly PlainTurn[] },
): boolean {
  const others = othersOf(record, waiting, view, surroundings);
  const taken = [...takenCapacity(others, priority), ...comingTo(others, surroundings)];
  const nodes = closed(usableNodes(record, forbiddenNode, view), avoided);
  const plain = { claims: claimsIn(record), refused };
  const fitsBeside = (placed: readonly (readonly [PlainPod, string])[]): boolean =>
    new PlainCapacity(nodes, [...taken, ...placed], plain).isFound(waiting, needed) === true;
  const where = { nodes: usableNodes(record, undefined, view), pods: others, surroundings: plain, areZonesPools };
  return fitsBeside([]) && (turns.length === 0 || !mayBlock(turns, where, (placed) => !fitsBeside(placed)));
}

/**
 * Reports whether the beneficiary certainly does not fit by the view. A nomination in the API may be older than the end of its plan. The
 * scheduler does not know which node rejects all Bindings.
 */
export function isImpossibleFor(
  record: StoreRecord,
  { waiting, needed }: Beneficiary,
  view: View,
  { refused = [], ...surroundings }: Surroundings,
): boolean {
  const others = othersOf(record, waiting, view, surroundings);
  // The scheduler counts a pod for which it has sent a Binding as one on the node, in terms on other pods too.
  const coming = comingTo(others, surroundings).map(([pod, node]) => [{ ...pod, node }, node] as const);
  const taken = [...takenCapacity(others, Infinity), ...coming];
  const nodes = usableNodes(record, undefined, view);
  return new PlainCapacity(nodes, taken, { claims: claimsIn(record), refused }).arrangement(waiting, needed) === 'none';
}

function othersOf(
  record: StoreRecord,
  waiting: readonly PlainPod[],
  view: View,
  { isGone }: Pick<Surroundings, 'isGone'>,
): readonly PlainPod[] {
  const open = waiting.map(({ uid }) => uid);
  return podsIn(record, view).filter((pod) => !open.includes(pod.uid) && !isGone(pod));
}

function comingTo(
  pods: readonly PlainPod[],
  { coming }: Pick<Surroundings, 'coming'>,
): readonly (readonly [PlainPod, string])[] {
  return pods.flatMap((pod) => {
    const node = coming.get(pod.uid);
    return node === undefined || pod.node !== '' ? [] : [[pod, node] as const];
  });
}
