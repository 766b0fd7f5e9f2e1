import type { JsonObject } from '../../../src/plane/apiserver/json.ts';
import type { GroupPlan, MemberPlan, NodePlan } from '../scenario.ts';

const namespace = 'default';
export const podsPath = `/api/v1/namespaces/${namespace}/pods`;
export const groupsPath = `/apis/scheduling.x-k8s.io/v1alpha1/namespaces/${namespace}/podgroups`;
export const nodesPath = '/api/v1/nodes';

/** Priority class of pods with a priority; other pods have none. */
const highPriority = 'high';
export const prioritiesPath = '/apis/scheduling.k8s.io/v1/priorityclasses';

export function priorityManifest(): JsonObject {
  return { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: highPriority }, value: 100 };
}

export function nodeManifest({ name, milliCpu, mebibytes, pods, labels, isReserved }: NodePlan): JsonObject {
  const allocatable = { cpu: `${milliCpu}m`, memory: `${mebibytes}Mi`, pods: String(pods) };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...labels } },
    ...(isReserved === true && {
      spec: { taints: [{ key: 'reserved', value: labels?.zone ?? '', effect: 'NoSchedule' }] },
    }),
    status: { capacity: allocatable, allocatable, conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

export function groupManifest({ name, minMember, repairPolicy, repairGraceSeconds }: GroupPlan): JsonObject {
  return {
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    metadata: { name },
    spec: {
      minMember,
      ...(repairPolicy !== undefined && { repairPolicy }),
      ...(repairGraceSeconds !== undefined && { repairGraceSeconds }),
    },
  };
}

export function podManifest(
  name: string,
  member: MemberPlan,
  options: {
    readonly schedulerName: string;
    readonly priority: number;
    readonly group?: Pick<GroupPlan, 'name' | 'recreation'>;
  },
): JsonObject {
  const { milliCpu, mebibytes, hostPort, gated, finalizer, zone } = member;
  const { schedulerName, priority, group } = options;
  const isOwned = group !== undefined && group.recreation !== 'never';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      ...(group !== undefined && { labels: { 'scheduling.x-k8s.io/pod-group': group.name } }),
      ...(finalizer === true && { finalizers: ['simulation.example/hold'] }),
      ...(isOwned && {
        ownerReferences: [
          { apiVersion: 'batch/v1', kind: 'Job', name: group.name, uid: `job-of-${group.name}`, controller: true },
        ],
      }),
    },
    spec: {
      schedulerName,
      ...(priority > 0 && { priorityClassName: highPriority }),
      terminationGracePeriodSeconds: 5,
      ...(gated === true && { schedulingGates: [{ name: 'simulation.example/gate' }] }),
      ...(zone !== undefined && {
        nodeSelector: { zone },
        tolerations: [{ key: 'reserved', value: zone, effect: 'NoSchedule' }],
      }),
      containers: [
        {
          name: 'main',
          image: 'main',
          resources: { requests: { cpu: `${milliCpu}m`, memory: `${mebibytes}Mi` } },
          ...(hostPort !== undefined && { ports: [{ containerPort: hostPort, hostPort }] }),
        },
      ],
    },
  };
}
