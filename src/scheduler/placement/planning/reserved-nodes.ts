import type { Pod } from '../../../api/pod.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { Nomination } from '../../../framework/dry-run.ts';
import type { ChosenNode } from './assignment-pass.ts';
import { NodeCheck } from './node-check.ts';
import type { PlacementStrategy, StrategyInput } from './placement-strategy.ts';
import type { Plan } from './plan.ts';

/**
 * Places members that have reservations on exactly these nodes. They were planned there, but the other strategies need not find that plan again:
 * another pod may have ended, and the nodes of members that must spread depend on each other.
 */
export const reservedNodes: PlacementStrategy = {
  name: 'ReservedNodes',

  *place({ scope, order, passes }: StrategyInput): Yielding<Plan | undefined> {
    const { cluster, request, indexes, transaction, work } = scope;
    const group = request.members[0]!.podGroupKey;
    if (group === undefined || !cluster.hasReservationFor(group)) return undefined;
    /** uid of a member -> the member, and the position of its class */
    const members = new Map<string, { readonly pod: Pod; readonly batch: number }>();
    for (const [batch, { podClass }] of order.entries())
      for (const pod of podClass.pods) members.set(pod.uid, { pod, batch });
    const allowed = indexes && new Set(indexes);
    const chosen: ChosenNode[] = [];
    const nominations: Nomination[] = [];
    // In the order of the plan: members that must spread fit in no other.
    for (const { owner, nodeName } of cluster.reservations()) {
      const [member, node] = [members.get(owner.uid), cluster.node(nodeName)];
      if (member === undefined || node === undefined || allowed?.has(node.index) === false) continue;
      chosen.push({ batch: member.batch, node, count: 1 });
      nominations.push({ pod: member.pod, nodeName });
    }
    if (chosen.length < request.needed) return undefined;
    yield* passes.undo(work.budget);
    const check = new NodeCheck(cluster);
    const rejection = yield* check.rejectionSteps(request, nominations, transaction, work.budget);
    if (rejection !== undefined) return undefined;
    return yield* passes.run(scope, yield* passes.start(scope, order), reservedNodes.name, chosen);
  },
};
