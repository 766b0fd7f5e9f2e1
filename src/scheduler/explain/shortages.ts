import type { Shortage } from '../../api/explain/explanation.ts';
import { formatAmount } from '../../api/format-amount.ts';
import type { Pod } from '../../api/pod.ts';
import { amountOf } from '../../api/resource-list.ts';
import type { ResourceNames } from '../../api/resource-names.ts';
import { smallestAmounts } from '../../framework/resource-demand.ts';
import type { NodeLook } from './node-looks.ts';
import { isMeantFor } from './nearest-nodes.ts';

/**
 * Returns for each resource of which some node has too little for the pod: what the entity needs, and what the nodes have that may take the pod.
 * `members`: those that wait, of which `needed` must be placed. Call it while no sibling is placed.
 */
export function shortagesOf(
  looks: readonly NodeLook[],
  pod: Pod,
  { members, needed }: { readonly members: readonly Pod[]; readonly needed: number },
  resources: ResourceNames,
): readonly Shortage[] {
  const isMeant = ({ status }: NodeLook): boolean => status === undefined || isMeantFor(status);
  const usable = looks.filter((look) => isMeant(look) && !look.node.node.unschedulable);
  const short = new Set(looks.flatMap(({ status }) => status?.details.flatMap(({ resource }) => resource ?? []) ?? []));
  return pod.template.requests.ids
    .filter((id) => short.has(resources.nameOf(id)))
    .map((id) => {
      const resource = resources.nameOf(id);
      const amounts = members.map((member) => [amountOf(member.template.requests, id), 1] as const);
      const { sum: needs } = smallestAmounts(amounts, needed);
      const free = usable.reduce((sum, { node }) => sum + Math.max(0, node.free(id)), 0);
      const total = usable.reduce((all, { node }) => all + node.allocatable.of(id), 0);
      return {
        resource,
        needed: formatAmount(resource, needs),
        free: formatAmount(resource, free),
        total: formatAmount(resource, total),
      };
    })
    .sort((a, b) => (a.resource < b.resource ? -1 : 1));
}
