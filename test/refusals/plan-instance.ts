import { defaultPlugins } from '../../src/plugins/registry.ts';
import type { PodOptions } from '../../src/testkit/builders/pod.ts';
import { Queueing } from '../../src/testkit/queueing.ts';
import { gpuResource, groupLabel, hostnameLabel, reservedTaint } from '../simulation/checks/plain-objects.ts';
import { gangPriority } from './instance.ts';
import type { Instance, InstanceKind, ResourceAmounts } from './instance.ts';

const groupName = 'gang';
const kindLabel = 'kind';
const nodeNameOf = (node: number): string => `node-${node}`;

/** Returns where one attempt of a new scheduler places the members: member -> node; undefined: it rejects the gang. */
export function planInstance(instance: Instance): ReadonlyMap<number, number> | undefined {
  const { members, bound, needed } = instance;
  const scheduler = new Queueing(
    { plugins: defaultPlugins, binder: { bind: () => new Promise(() => undefined) } },
    'listing',
  );
  addCluster(scheduler, instance);
  scheduler.group({ name: groupName, minMember: needed + bound.length });
  bound.forEach(({ kind, node }, i) =>
    scheduler.pod({ ...memberOf(instance, kind), name: `bound-${i}`, nodeName: nodeNameOf(node) }),
  );
  members.forEach((kind, i) => scheduler.pod({ ...memberOf(instance, kind), name: `member-${i}` }));
  scheduler.start();
  const result = scheduler.harness.core.attempt();
  switch (result?.kind) {
    case 'planned':
      return new Map(result.plan.assignments.map(({ pod, nodeName }) => [numberIn(pod.name), numberIn(nodeName)]));
    case 'rejected':
      return undefined;
    default:
      throw new Error(`the attempt for ${instance.family} ${instance.seed} ended as ${result?.kind ?? 'idle'}`);
  }
}

/** Adds the nodes with the pods of others, which the gang must not preempt. */
function addCluster(scheduler: Queueing, { nodes, reservations }: Instance): void {
  const others = { schedulerName: 'other', priority: gangPriority + 1 };
  nodes.forEach(({ allocatable: [milliCpu, mebibytes, gpus], used, zone, isTainted }, node) => {
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
  });
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
