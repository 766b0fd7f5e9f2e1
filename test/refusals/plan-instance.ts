import { defaultPlugins } from '../../src/plugins/registry.ts';
import type { PodOptions } from '../../src/testkit/builders/pod.ts';
import { Queueing } from '../../src/testkit/queueing.ts';
import { gpuResource, groupLabel, hostnameLabel, reservedTaint } from '../simulation/checks/plain-objects.ts';
import { gangPriority } from './instance.ts';
import type { Instance, InstanceKind, InstanceNode, ResourceAmounts } from './instance.ts';

const groupName = 'gang';
const kindLabel = 'kind';
const zoneAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution: [
    { topologyKey: 'zone', labelSelector: { matchLabels: { [groupLabel]: groupName } } },
  ],
};
const withZone = (node: InstanceNode, index: number): InstanceNode => ({ ...node, zone: index % 2 === 0 ? 'a' : 'b' });
const nodeNameOf = (node: number): string => `node-${node}`;

/** Where the members of an instance are placed. */
export interface InstancePlan {
  /** member -> node, in the order of placement */
  readonly nodes: ReadonlyMap<number, number>;
  /** Name of the strategy that placed them. */
  readonly strategy: string;
}

/** In what order a scheduler hears of the nodes and members. */
interface Arrival {
  readonly nodes: readonly number[];
  readonly members: readonly number[];
}

interface PlanInstanceOptions {
  /** Default: as they are listed. */
  readonly arrival?: Arrival;
  /** Every other node is in another zone, and all members must share one. Neither the instance nor its exact solution knows. */
  readonly sharesZone?: boolean;
}

/** Returns where one attempt of a new scheduler places the members; undefined: it rejects the gang. */
export function planInstance(
  drawn: Instance,
  { arrival, sharesZone = false }: PlanInstanceOptions = {},
): InstancePlan | undefined {
  const instance = sharesZone ? { ...drawn, nodes: drawn.nodes.map(withZone) } : drawn;
  const { nodes, members, bound, needed } = instance;
  const podOf = (kind: number): PodOptions => {
    const pod = memberOf(instance, kind);
    return sharesZone ? { ...pod, spec: { affinity: { ...pod.spec?.affinity, podAffinity: zoneAffinity } } } : pod;
  };
  const scheduler = new Queueing(
    { plugins: defaultPlugins, binder: { bind: () => new Promise(() => undefined) } },
    'listing',
  );
  addCluster(scheduler, instance, arrival?.nodes ?? [...nodes.keys()]);
  scheduler.group({ name: groupName, minMember: needed + bound.length });
  bound.forEach(({ kind, node }, i) =>
    scheduler.pod({ ...podOf(kind), name: `bound-${i}`, nodeName: nodeNameOf(node) }),
  );
  for (const i of arrival?.members ?? members.keys()) {
    scheduler.pod({ ...podOf(members[i]!), name: `member-${i}` });
  }
  scheduler.start();
  const result = scheduler.harness.core.attempt();
  switch (result?.kind) {
    case 'planned': {
      const { assignments, strategy } = result.plan;
      return {
        nodes: new Map(assignments.map(({ pod, nodeName }) => [numberIn(pod.name), numberIn(nodeName)])),
        strategy: strategy!,
      };
    }
    case 'rejected':
      return undefined;
    default:
      throw new Error(`the attempt for ${instance.family} ${instance.seed} ended as ${result?.kind ?? 'idle'}`);
  }
}

/** Adds the nodes with the pods of others, which the gang must not preempt. */
function addCluster(scheduler: Queueing, { nodes, reservations }: Instance, order: readonly number[]): void {
  const others = { schedulerName: 'other', priority: gangPriority + 1 };
  for (const node of order) {
    const { allocatable, used, zone, isTainted } = nodes[node]!;
    const [milliCpu, mebibytes, gpus] = allocatable;
    const name = nodeNameOf(node);
    scheduler.node({
      name,
      cpu: `${milliCpu}m`,
      memory: `${mebibytes}Mi`,
      allocatable: { [gpuResource]: gpus },
      labels: zone === undefined ? {} : { zone },
      taints: isTainted ? [`${reservedTaint}:NoSchedule`] : [],
    });
    if (used.some((amount) => amount > 0)) {
      scheduler.pod({ ...others, ...requestsOf(used), name: `other-${node}`, nodeName: name });
    }
  }
  reservations.forEach(({ node, amounts, priority }, i) =>
    scheduler.pod({
      ...others,
      ...requestsOf(amounts),
      name: `nominated-${i}`,
      priority,
      nominatedNodeName: nodeNameOf(node),
    }),
  );
}

function memberOf({ kinds }: Instance, index: number): PodOptions {
  const kind = kinds[index]!;
  return {
    group: groupName,
    priority: gangPriority,
    labels: { [kindLabel]: String(index) },
    ...requestsOf(kind.amounts),
    ...(kind.hostPort !== undefined && { hostPorts: [kind.hostPort] }),
    ...(kind.zone !== undefined && { nodeSelector: { zone: kind.zone } }),
    ...(kind.toleratesTaint && { tolerations: [{ key: reservedTaint, operator: 'Exists' }] }),
    ...(kind.apartFrom !== undefined && { spec: { affinity: { podAntiAffinity: antiAffinityOf(kind, index) } } }),
  };
}

function antiAffinityOf({ apartFrom }: InstanceKind, index: number): object {
  const matchLabels = apartFrom === 'gang' ? { [groupLabel]: groupName } : { [kindLabel]: String(index) };
  return {
    requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: hostnameLabel, labelSelector: { matchLabels } }],
  };
}

function requestsOf([milliCpu, mebibytes, gpus]: ResourceAmounts): PodOptions {
  return {
    cpu: `${milliCpu}m`,
    memory: `${mebibytes}Mi`,
    ...(gpus > 0 && { requests: { [gpuResource]: gpus } }),
  };
}

/** Returns the number at the end of a name. */
function numberIn(name: string): number {
  return Number(name.slice(name.lastIndexOf('-') + 1));
}
