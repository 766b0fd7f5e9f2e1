import { PlainCapacity } from '../simulation/checks/plain-fit.ts';
import type { PlainNode, PlainPod } from '../simulation/checks/plain-objects.ts';
import { respectedReservations } from './instance.ts';
import type { Instance, ResourceAmounts } from './instance.ts';

/** Returns what is wrong with a plan, member -> node; undefined: nothing. Asks the plain second check, not the product. */
export function problemOf(instance: Instance, plan: ReadonlyMap<number, number>): string | undefined {
  const { members, needed, nodes, bound } = instance;
  if (plan.size < needed) return `${plan.size} of the ${needed} needed members have a node`;
  const planned = [...plan].map(([member, node]) => ({ kind: members[member], node }));
  const unknown = planned.find(({ kind, node }) => kind === undefined || nodes[node] === undefined);
  if (unknown !== undefined) return 'a member or a node does not exist';
  const others = othersOf(instance);
  const own = [...bound, ...(planned as typeof bound)].map(
    ({ kind, node }, i) => [memberOf(instance, kind, i), String(node)] as const,
  );
  const plainNodes = plainNodesOf(instance);
  // The order of placement does not matter, so each planned member must fit after all others.
  for (const placed of own.slice(bound.length)) {
    const [pod, node] = placed;
    const rest = own.filter((other) => other !== placed);
    if (!new PlainCapacity(plainNodes, [...others, ...rest]).takes(pod, node)) {
      return `a member of kind ${pod.group} does not fit on node ${node}`;
    }
  }
  return undefined;
}

function plainNodesOf({ nodes }: Instance): PlainNode[] {
  return nodes.map(({ allocatable, zone, isTainted }, node) => ({
    ...amountsOf(allocatable),
    name: String(node),
    version: 1,
    pods: 110,
    zone,
    isClosed: false,
    isReserved: isTainted,
  }));
}

/** Returns the pods of others that use capacity, or for which it is reserved. */
function othersOf(instance: Instance): (readonly [PlainPod, string])[] {
  const reserved = respectedReservations(instance);
  return [
    ...instance.nodes.map(({ used }, node) => [podOf(used, { node: String(node) }), String(node)] as const),
    ...reserved.map(({ node, amounts }) => [podOf(amounts, {}), String(node)] as const),
  ];
}

/** Returns a member. Its kind is its group: the terms of the plain check name groups. */
function memberOf({ kinds }: Instance, index: number, serial: number): PlainPod {
  const { amounts, hostPort, zone, toleratesTaint, apartFrom } = kinds[index]!;
  const shunned = kinds.flatMap((_, kind) =>
    apartFrom === 'gang' || (apartFrom === 'kind' && kind === index) ? [kind] : [],
  );
  return podOf(amounts, {
    uid: `member-${serial}`,
    group: String(index),
    labeledAs: [String(index)],
    hostPorts: hostPort === undefined ? [] : [hostPort],
    zone,
    toleratesReserved: toleratesTaint,
    terms: shunned.map((kind) => ({ kind: 'apart', domain: 'node', group: String(kind) })),
  });
}

function podOf(amounts: ResourceAmounts, more: Partial<PlainPod>): PlainPod {
  return {
    ...amountsOf(amounts),
    key: '',
    uid: '',
    name: '',
    version: 1,
    schedulerName: '',
    group: undefined,
    otherGroup: undefined,
    labeledAs: [],
    node: '',
    phase: 'Pending',
    isRejected: false,
    isLeaving: false,
    isGated: false,
    hostPorts: [],
    zone: undefined,
    toleratesReserved: false,
    terms: [],
    claim: undefined,
    isManaged: false,
    priority: 0,
    isControlled: false,
    nominatedNode: '',
    boundFor: undefined,
    plan: undefined,
    quorum: NaN,
    scheduled: undefined,
    disruption: undefined,
    graceMs: 0,
    neverPreempts: false,
    budget: undefined,
    startedAt: undefined,
    declaredMs: undefined,
    predicted: undefined,
    ...more,
  };
}

function amountsOf([milliCpu, mebibytes, gpus]: ResourceAmounts): Pick<PlainPod, 'milliCpu' | 'mebibytes' | 'gpus'> {
  return { milliCpu, mebibytes, gpus };
}
