import type { Subject } from '../../api/explain/basis.ts';
import type { NearestNode } from '../../api/explain/explanation.ts';
import { formatAmount } from '../../api/format-amount.ts';
import type { Pod } from '../../api/pod.ts';
import type { RejectionCode } from '../../api/rejection-code.ts';
import { amountOf } from '../../api/resource-list.ts';
import type { ResourceId, ResourceNames } from '../../api/resource-names.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';
import { mustRespect } from '../../cluster/reservation.ts';
import type { Status } from '../../framework/status.ts';
import type { NodeLook } from './node-looks.ts';
import { decidingKey, rejectionDetails } from './rejection-details.ts';
import { subjectOfPod } from './subjects.ts';

const maxNodes = 5;
const maxHolders = 3;
/** Codes of nodes that are not meant for the pod, however much is free there. */
const notForThePod: ReadonlySet<RejectionCode> = new Set([
  'UntoleratedTaint',
  'NodeNameMismatch',
  'NodeAffinityMismatch',
  'MissingNodeFeature',
  'NotPreselected',
]);

interface Near {
  readonly node: NodeInfo;
  readonly isMeant: boolean;
  /** Sum over the resources of what is missing, as shares of the request. */
  readonly share: number;
}

/** Returns the nodes that lack least for the pod. `rejectionsOn`: see LookScope. */
export function nearestNodes(
  looks: readonly NodeLook[],
  pod: Pod,
  rejectionsOn: (node: NodeInfo) => readonly Status[],
  resources: ResourceNames,
): readonly NearestNode[] {
  const nearest: Near[] = [];
  for (const { node, status } of looks) {
    if (status === undefined) continue;
    const near = { node, isMeant: isMeantFor(status), share: missingShare(node, pod) };
    if (nearest.length === maxNodes && compare(nearest.at(-1)!, near) <= 0) continue;
    nearest.push(near);
    nearest.sort(compare);
    nearest.length = Math.min(nearest.length, maxNodes);
  }
  return nearest.map(({ node }) => {
    const missing = missingOn(node, pod);
    return {
      node: node.name,
      missing: Object.fromEntries(
        missing
          .map(({ id, amount }) => [resources.nameOf(id), formatAmount(resources.nameOf(id), amount)] as const)
          .sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
      rejections: rejectionsOn(node).flatMap((status) =>
        rejectionDetails(status, pod, [node], resources, decidingKey(status, pod, node.node)),
      ),
      heldBy: holdersOf(node, missing, pod),
    };
  });
}

function isMeantFor({ details }: Status): boolean {
  return !details.some(({ code }) => notForThePod.has(code));
}

function compare(a: Near, b: Near): number {
  if (a.isMeant !== b.isMeant) return a.isMeant ? -1 : 1;
  return a.share - b.share || (a.node.name < b.node.name ? -1 : 1);
}

function missingOn(node: NodeInfo, { template }: Pod): readonly { readonly id: ResourceId; readonly amount: number }[] {
  const { ids } = template.requests;
  return ids
    .map((id) => ({ id, amount: amountOf(template.requests, id) - Math.max(0, node.free(id)) }))
    .filter(({ amount }) => amount > 0);
}

function missingShare(node: NodeInfo, pod: Pod): number {
  const { ids, amounts } = pod.template.requests;
  let share = 0;
  for (let i = 0; i < ids.length; i++) {
    const missing = amounts[i]! - Math.max(0, node.free(ids[i]!));
    if (missing > 0) share += missing / amounts[i]!;
  }
  return share;
}

/**
 * Returns the groups and pods that use most of what is missing on the node: of the resource of which the largest share is missing. If nothing is,
 * those for which its capacity is reserved.
 */
function holdersOf(
  node: NodeInfo,
  missing: readonly { readonly id: ResourceId; readonly amount: number }[],
  pod: Pod,
): readonly Subject[] {
  const shareOf = ({ id, amount }: { readonly id: ResourceId; readonly amount: number }): number =>
    amount / amountOf(pod.template.requests, id);
  const scarcest = [...missing].sort((a, b) => shareOf(b) - shareOf(a))[0];
  if (scarcest === undefined) return reservedFor(node, pod);
  /** key of a group, or of a pod without one -> who, and how much it uses */
  const used = new Map<string, { readonly subject: Subject; amount: number }>();
  for (const other of node.pods.values()) {
    const amount = amountOf(other.template.requests, scarcest.id);
    if (amount === 0) continue;
    const key = other.podGroupKey ?? `pod ${other.key}`;
    const known = used.get(key);
    if (known === undefined) used.set(key, { subject: subjectOfPod(other), amount });
    else known.amount += amount;
  }
  return [...used]
    .sort(([a, { amount: one }], [b, { amount: other }]) => other - one || (a < b ? -1 : 1))
    .slice(0, maxHolders)
    .map(([, { subject }]) => subject);
}

function reservedFor(node: NodeInfo, pod: Pod): readonly Subject[] {
  /** key of a group, or of a pod without one -> who */
  const owners = new Map<string, Subject>();
  for (const reservation of node.reservations.values()) {
    const { owner } = reservation;
    if (mustRespect(pod, reservation)) owners.set(owner.podGroupKey ?? `pod ${owner.key}`, subjectOfPod(owner));
  }
  return [...owners]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, maxHolders)
    .map(([, subject]) => subject);
}
