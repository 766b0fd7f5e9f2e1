import type { Pod } from '../../api/pod.ts';
import type { ResourceList } from '../../api/resource-list.ts';
import type { ResourceId } from '../../api/resource-names.ts';
import type { NodeView } from '../../cluster/node-info.ts';

/** One resource of which the whole cluster has too little for a group. */
export interface Shortfall {
  readonly id: ResourceId;
  readonly needed: number;
  readonly free: number;
}

/**
 * The first resource of `needed` (a total for the group) that is not free in sum over all nodes. Room that the group's own
 * pods take counts as free, because the total includes them; an over-committed node counts as 0, never as less. A
 * necessary condition only: taints, affinity and fragmentation are not looked at.
 */
export function roomShortfall(
  nodes: readonly NodeView[],
  needed: ResourceList,
  own: readonly Pod[],
): Shortfall | undefined {
  for (let i = 0; i < needed.ids.length; i++) {
    const id = needed.ids[i]!;
    const amount = needed.amounts[i]!;
    let free = own.reduce((sum, pod) => sum + amountOf(pod.template.requests, id), 0);
    for (let n = 0; n < nodes.length && free < amount; n++) free += Math.max(0, nodes[n]!.free(id));
    if (free < amount) return { id, needed: amount, free };
  }
  return undefined;
}

function amountOf(list: ResourceList, id: ResourceId): number {
  const index = list.ids.indexOf(id);
  return index < 0 ? 0 : list.amounts[index]!;
}
