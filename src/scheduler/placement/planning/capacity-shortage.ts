import { commonResources } from '../../../api/resource-names.ts';
import type { ResourceId } from '../../../api/resource-names.ts';
import { amountOf } from '../../../api/resource-list.ts';
import type { Pod } from '../../../api/pod.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { ReservedNode } from '../../../cluster/node-reservations.ts';
import { isShortInTotal } from '../../../framework/capacity-shortage.ts';
import type { CapacityShortage } from '../../../framework/capacity-shortage.ts';
import type { NodesRejection } from '../../../framework/diagnosis.ts';
import type { CapacityOnly } from '../cache/capacity-only.ts';
import type { NodeAssignment } from './plan.ts';

/** Pods that must still be placed, and what is placed already. */
export interface UnplacedPods {
  /** One of them. */
  readonly pod: Pod;
  readonly count: number;
  readonly isPartial: boolean;
  /** Their rejections, one per status. */
  readonly rejections: readonly NodesRejection[];
  /** The nodes that rejected them only because too little is free. */
  readonly nodes: CapacityOnly;
  /** The siblings on their nodes. */
  readonly assignments: readonly NodeAssignment[];
  /** The nodes with reservations that the pods must respect. */
  readonly reserved: readonly ReservedNode[];
}

/** Maximum number of resources to compare; pods seldom lack more. */
const maxResources = 4;

/**
 * Returns the shortages of the resources that nodes lack: first those of which too little is free in total, then by the number of nodes.
 * `first`: only the first of them. One pass over the nodes per resource.
 */
export function shortagesOf(cluster: Cluster, pods: UnplacedPods, which: 'first' | 'all'): readonly CapacityShortage[] {
  const inTotal: CapacityShortage[] = [];
  const onEachNode: CapacityShortage[] = [];
  for (const resource of lackedResources(pods.rejections)) {
    const id = pods.pod.template.requests.ids.find((candidate) => cluster.resources.nameOf(candidate) === resource);
    if (id === undefined) continue;
    const shortage = shortageFor(cluster, pods, id, resource);
    // A plugin with rules of its own may find that too little is free.
    if (shortage.largest >= shortage.request) continue;
    (isShortInTotal(shortage) ? inTotal : onEachNode).push(shortage);
    if (which === 'first' && inTotal.length > 0) break;
  }
  const found = [...inTotal, ...onEachNode];
  return which === 'first' ? found.slice(0, 1) : found;
}

/** Returns the resources that nodes lack: those that most nodes lack first, then by name. */
function lackedResources(rejections: readonly NodesRejection[]): readonly string[] {
  /** resource -> number of nodes */
  const counts = new Map<string, number>();
  for (const { status, nodes } of rejections) {
    for (const { code, resource } of status.details) {
      if (code === 'InsufficientResource' && resource !== undefined)
        counts.set(resource, (counts.get(resource) ?? 0) + nodes);
    }
  }
  return [...counts]
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .slice(0, maxResources)
    .map(([resource]) => resource);
}

function shortageFor(
  cluster: Cluster,
  { pod, count, isPartial, nodes: usable, assignments, reserved }: UnplacedPods,
  id: ResourceId,
  resource: string,
): CapacityShortage {
  const { nodes } = cluster;
  /** node index -> amount that is reserved there */
  const kept = new Map<number, number>();
  for (const { node, owners } of reserved) {
    for (const { template } of owners)
      kept.set(node.index, (kept.get(node.index) ?? 0) + amountOf(template.requests, id));
  }
  const columns = id < commonResources ? cluster.amounts.of(id) : undefined;
  let [total, left, largest] = [0, 0, 0];
  for (let index = 0; index < nodes.length; index++) {
    if (!usable.has(index)) continue;
    const allocatable = columns === undefined ? nodes[index]!.allocatable.of(id) : columns.allocatable[index]!;
    let free = allocatable - (columns === undefined ? nodes[index]!.requested.of(id) : columns.requested[index]!);
    if (kept.size > 0) free -= kept.get(index) ?? 0;
    total += allocatable;
    if (free <= 0) continue;
    left += free;
    if (free > largest) largest = free;
  }
  let taken = 0;
  for (const { pod: sibling, nodeName } of assignments) {
    if (usable.has(cluster.node(nodeName)?.index ?? -1)) taken += amountOf(sibling.template.requests, id);
  }
  const request = amountOf(pod.template.requests, id);
  return { resource, count, request, total, free: left + taken, left, largest, isPartial };
}
