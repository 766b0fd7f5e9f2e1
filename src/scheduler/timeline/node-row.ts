import { isTerminal } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import type { NodeShare, TimelineNode } from '../../api/timeline/timeline-node.ts';
import type { ResourceId, ResourceNames } from '../../api/resource-names.ts';
import { Amounts } from '../../cluster/amounts.ts';
import { isNodeLost } from '../../cluster/lost-node.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';

/** Use of one resource by one entity. */
interface Use {
  used: number;
  reserved: number;
}

/** Returns a node as messages show it. `keyOf`: key of the entity that a pod is recorded under; undefined: none. */
export function nodeRow(
  info: NodeInfo,
  resources: ResourceNames,
  keyOf: (pod: Pod) => string | undefined,
): TimelineNode {
  const owners = [...info.reservations.values()].map(({ owner }) => owner).filter(({ uid }) => !info.pods.has(uid));
  const reserved = new Amounts();
  for (const { template } of owners) reserved.add(template.requests);
  const rows: TimelineNode['resources'][string][] = [];
  const names: string[] = [];
  let scarcest: { readonly id: ResourceId; readonly name: string; readonly share: number } | undefined;
  for (const [id, allocatable] of info.allocatable.entries()) {
    const name = resources.nameOf(id);
    if (name === 'pods') continue;
    const unit = name === 'cpu' ? 1000 : 1;
    const share = (info.requested.of(id) + reserved.of(id)) / allocatable;
    if (share > (scarcest?.share ?? -1)) scarcest = { id, name, share };
    names.push(name);
    rows.push({
      allocatable: allocatable / unit,
      used: info.requested.of(id) / unit,
      reserved: reserved.of(id) / unit,
    });
  }
  return {
    name: info.name,
    state: info.isGone ? 'Gone' : isNodeLost(info.node) ? 'NotReady' : info.node.unschedulable ? 'Cordoned' : 'Ready',
    resources: Object.fromEntries(names.map((name, i) => [name, rows[i]!])),
    ...(scarcest !== undefined && { scarcest: scarcest.name }),
    shares: scarcest === undefined ? [] : sharesOf(scarcest.id, info, owners, keyOf),
  };
}

function sharesOf(
  id: ResourceId,
  info: NodeInfo,
  owners: readonly Pod[],
  keyOf: (pod: Pod) => string | undefined,
): readonly NodeShare[] {
  /** key of an entity, undefined for all others -> its use */
  const uses = new Map<string | undefined, Use>();
  const add = (pod: Pod, kind: keyof Use): void => {
    const amount = amountOf(pod, id);
    if (amount === 0 || isTerminal(pod)) return;
    const key = keyOf(pod);
    const use = uses.get(key);
    if (use !== undefined) use[kind] += amount;
    else uses.set(key, { used: 0, reserved: 0, [kind]: amount });
  };
  for (const pod of info.pods.values()) add(pod, 'used');
  for (const owner of owners) add(owner, 'reserved');
  const allocatable = info.allocatable.of(id);
  const share = (amount: number): number => Math.round((amount / allocatable) * 10_000) / 10_000;
  return [...uses]
    .sort(([, a], [, b]) => b.used + b.reserved - a.used - a.reserved)
    .map(([entity, { used, reserved }]) => ({
      ...(entity !== undefined && { entity }),
      used: share(used),
      reserved: share(reserved),
    }));
}

function amountOf({ template }: Pod, id: ResourceId): number {
  const { ids, amounts } = template.requests;
  const index = ids.indexOf(id);
  return index < 0 ? 0 : amounts[index]!;
}
