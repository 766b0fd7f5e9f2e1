import { projectListed } from '../../src/api/listed-object.ts';
import { defaultPlugins } from '../../src/plugins/registry.ts';
import type { PodOptions } from '../../src/testkit/builders/pod.ts';
import { Queueing } from '../../src/testkit/queueing.ts';
import { gpuResource, hostnameLabel, reservedTaint } from '../simulation/checks/plain-objects.ts';
import type { Instance, PodShape, ResourceAmounts } from './instance.ts';
import type { MemberNodes } from './plain-cluster.ts';

const colorLabel = 'color';
const budgetLabel = 'budget';
const ownGroup = 'preemptor';
const nodeNameOf = (node: number): string => `node-${node}`;

/** What one attempt of a new scheduler does for the preemptor of an instance. */
export interface Answer {
  /** It placed the members without preemption. */
  readonly isPlanned: boolean;
  /** The running pods that it evicts. */
  readonly victims: readonly number[];
  /** The nodes on which it reserves capacity. */
  readonly nodes: MemberNodes;
  /** Text of the verdict. */
  readonly message: string;
}

export function preemptInstance(instance: Instance): Answer {
  const scheduler = new Queueing(
    {
      plugins: defaultPlugins,
      binder: { bind: () => new Promise(() => undefined) },
    },
    'listing',
  );
  addCluster(scheduler, instance);
  addPreemptor(scheduler, instance);
  scheduler.start();
  const { harness } = scheduler;
  const result = harness.core.attempt();
  if (result?.kind !== 'planned' && result?.kind !== 'rejected') {
    throw new Error(`the attempt for ${instance.family} ${instance.seed} ended as ${result?.kind ?? 'idle'}`);
  }
  const names = instance.members.map((_, i) => memberNameOf(i));
  const nodes = names.map((name) => harness.cluster.reservationOf(name)?.nodeName);
  return {
    isPlanned: result.kind === 'planned',
    victims: harness.preempted.map((text) => numberIn(text.split(' ')[0]!)),
    nodes: new Map(nodes.flatMap((name, i) => (name === undefined ? [] : [[i, numberIn(name)] as const]))),
    message: harness.core.verdictOf(names[0]!)?.message ?? '',
  };
}

function addCluster(scheduler: Queueing, { nodes, groups, running, budgets, reservations }: Instance): void {
  for (const [i, { allocatable, isTainted }] of nodes.entries()) {
    const [milliCpu, mebibytes, gpus] = allocatable;
    scheduler.node({
      name: nodeNameOf(i),
      cpu: `${milliCpu}m`,
      memory: `${mebibytes}Mi`,
      allocatable: { [gpuResource]: gpus },
      taints: isTainted ? [`${reservedTaint}:NoSchedule`] : [],
    });
  }
  for (const [i, { minMember }] of groups.entries()) scheduler.group({ name: `group-${i}`, minMember });
  for (const [i, pod] of running.entries()) {
    const { node, priority, group, isLeaving, startedAt, budget } = pod;
    const options = optionsOf(pod);
    scheduler.pod({
      ...options,
      name: `running-${i}`,
      nodeName: nodeNameOf(node),
      priority,
      deleting: isLeaving,
      ...(group !== undefined && { group: group === 'own' ? ownGroup : `group-${group}` }),
      labels: { ...options.labels, ...(budget !== undefined && { [budgetLabel]: String(budget) }) },
      status: { startTime: new Date(Date.UTC(2026, 0, 1, 0, 0, startedAt)).toISOString() },
    });
  }
  for (const [i, disruptionsAllowed] of budgets.entries()) {
    const metadata = { name: `budget-${i}`, namespace: 'default', uid: `budget-${i}`, resourceVersion: '1' };
    const spec = { selector: { matchLabels: { [budgetLabel]: String(i) } } };
    const budget = projectListed('PodDisruptionBudget', { metadata, spec, status: { disruptionsAllowed } });
    scheduler.harness.core.handlers.listed.onAdd(budget);
  }
  for (const [i, { node, amounts, priority }] of reservations.entries()) {
    const nominatedNodeName = nodeNameOf(node);
    scheduler.pod({
      ...requestsOf(amounts),
      name: `nominated-${i}`,
      schedulerName: 'other',
      priority,
      nominatedNodeName,
    });
  }
}

function addPreemptor(scheduler: Queueing, { members, kinds, isGang, needed, running }: Instance): void {
  const bound = running.filter(({ group, isLeaving }) => group === 'own' && !isLeaving).length;
  if (isGang) scheduler.group({ name: ownGroup, minMember: needed + bound });
  for (const [i, index] of members.entries()) {
    const kind = kinds[index]!;
    scheduler.pod({
      ...optionsOf(kind),
      name: memberNameOf(i),
      priority: kind.priority,
      ...(isGang && { group: ownGroup }),
      ...(kind.toleratesTaint && { tolerations: [{ key: reservedTaint, operator: 'Exists' }] }),
    });
  }
}

function optionsOf({ amounts, hostPort, color, shuns }: PodShape): PodOptions {
  const podAntiAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: [
      {
        topologyKey: hostnameLabel,
        labelSelector: { matchExpressions: [{ key: colorLabel, operator: 'In', values: shuns }] },
      },
    ],
  };
  return {
    ...requestsOf(amounts),
    labels: { [colorLabel]: color },
    ...(hostPort !== undefined && { hostPorts: [hostPort] }),
    ...(shuns.length > 0 && { spec: { affinity: { podAntiAffinity } } }),
  };
}

function requestsOf([milliCpu, mebibytes, gpus]: ResourceAmounts): PodOptions {
  return {
    cpu: `${milliCpu}m`,
    memory: `${mebibytes}Mi`,
    ...(gpus > 0 && { requests: { [gpuResource]: gpus } }),
  };
}

function memberNameOf(member: number): string {
  return `member-${member}`;
}

/** Returns the number at the end of a name. */
function numberIn(name: string): number {
  return Number(name.slice(name.lastIndexOf('-') + 1));
}
