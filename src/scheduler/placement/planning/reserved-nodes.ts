import type { Yielding } from '../../../base/yielding.ts';
import type { ChosenNode } from './assignment-pass.ts';
import type { PlacementStrategy, StrategyInput } from './placement-strategy.ts';
import type { Plan } from './plan.ts';

/**
 * Places members that have reservations on these nodes first. They were planned there, but the other strategies need not find that plan again:
 * another pod may have ended, and the nodes of members that must spread depend on each other.
 */
export const reservedNodes: PlacementStrategy = {
  name: 'ReservedNodes',

  *place({ scope, order, passes }: StrategyInput): Yielding<Plan | undefined> {
    const { cluster, request, indexes } = scope;
    const group = request.members[0]!.podGroupKey;
    if (group === undefined || !cluster.hasReservationFor(group)) return undefined;
    /** uid of a member -> the position of its class */
    const classes = new Map<string, number>();
    for (const [batch, { podClass }] of order.entries()) for (const { uid } of podClass.pods) classes.set(uid, batch);
    const allowed = indexes && new Set(indexes);
    const chosen: ChosenNode[] = [];
    // In the order of the plan: members that must spread fit in no other.
    for (const { owner, nodeName } of cluster.reservations()) {
      const [batch, node] = [classes.get(owner.uid), cluster.node(nodeName)];
      if (batch === undefined || node === undefined || allowed?.has(node.index) === false) continue;
      chosen.push({ batch, node, count: 1 });
    }
    if (chosen.length < request.needed) return undefined;
    return yield* passes.run(scope, yield* passes.start(scope, order), reservedNodes.name, chosen);
  },
};
