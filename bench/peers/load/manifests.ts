import type { Placing, Victims } from '../workload.ts';
import type { GroupKind } from './load-protocol.ts';

export const namespace = 'bench';
/** Namespace of the pods with low priority. */
export const victimNamespace = 'bench-low';

/** Pods and groups with this PriorityClass preempt those with the other. */
const priorities = { low: 1_000, high: 1_000_000 } as const;

export type PriorityClassName = keyof typeof priorities;

export const priorityClassManifests: readonly object[] = Object.entries(priorities).map(([name, value]) => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  value,
}));

function nodeName(index: number): string {
  return `node-${index}`;
}

/** Returns a node as its kubelet would register it. */
export function nodeManifest(index: number, cpu: number): object {
  const name = nodeName(index);
  const resources = { cpu: `${cpu}`, memory: `${cpu * 4}Gi`, pods: '110' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'topology.kubernetes.io/zone': `zone-${index % 3}`,
      },
    },
    status: {
      capacity: resources,
      allocatable: resources,
      conditions: [
        { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
      ],
    },
  };
}

function groupName(gang: number): string {
  return `gang-${gang}`;
}

export function groupPath(kind: Exclude<GroupKind, 'none'>, inNamespace: string): string {
  const version = { label: 'scheduling.x-k8s.io/v1alpha1', native: 'scheduling.k8s.io/v1beta1' }[kind];
  return `/apis/${version}/namespaces/${inNamespace}/podgroups`;
}

export function podPath(inNamespace: string): string {
  return `/api/v1/namespaces/${inNamespace}/pods`;
}

/** `priority`: the PriorityClass of its pods. A native group has a priority of its own, and such a group is evicted as a whole. */
export function groupManifest(
  kind: Exclude<GroupKind, 'none'>,
  gang: number,
  minMember: number,
  priority?: PriorityClassName,
): object {
  const metadata = { name: groupName(gang) };
  switch (kind) {
    case 'label':
      return { apiVersion: 'scheduling.x-k8s.io/v1alpha1', kind: 'PodGroup', metadata, spec: { minMember } };
    case 'native':
      return {
        apiVersion: 'scheduling.k8s.io/v1beta1',
        kind: 'PodGroup',
        metadata,
        spec: {
          schedulingPolicy: { gang: { minCount: minMember } },
          ...(priority !== undefined && { priorityClassName: priority, disruptionMode: { all: {} } }),
        },
      };
  }
}

export function podName(index: number): string {
  return `pod-${index}`;
}

/** Returns the index in the name of a pod. */
export function podIndex(name: string): number {
  return Number(name.slice(name.lastIndexOf('-') + 1));
}

/** Returns the anti-affinity or topology spread of a member relative to its own gang, which its label identifies. */
function placingSpec(placing: Placing | undefined, gang: number): object {
  const labelSelector = { matchLabels: { gang: groupName(gang) } };
  switch (placing) {
    case undefined:
      return {};
    case 'apart': {
      const term = { labelSelector, topologyKey: 'kubernetes.io/hostname' };
      return { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
    }
    case 'spread': {
      const topologyKey = 'topology.kubernetes.io/zone';
      return {
        topologySpreadConstraints: [{ maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule', labelSelector }],
      };
    }
  }
}

/** What pods have in common. */
export interface PodKind {
  /** `none` for single pods. */
  readonly groups: GroupKind;
  readonly schedulerName: string;
  readonly placing?: Placing | undefined;
  readonly cpu?: string | undefined;
  readonly memory?: string;
  readonly priority?: PriorityClassName | undefined;
}

/** `nodeName`: where it is already bound. */
export function podManifest(kind: PodKind, index: number, gang: number, nodeName?: string): object {
  const { groups, schedulerName, placing, cpu = '1', memory = '1Gi', priority } = kind;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName(index),
      labels: {
        app: 'bench',
        ...(placing !== undefined && { gang: groupName(gang) }),
        ...(groups === 'label' && { 'scheduling.x-k8s.io/pod-group': groupName(gang) }),
      },
    },
    spec: {
      schedulerName,
      ...(nodeName !== undefined && { nodeName }),
      // Without a kubelet, a deleted pod would stay with any other grace period.
      ...(priority !== undefined && { priorityClassName: priority, terminationGracePeriodSeconds: 0 }),
      ...placingSpec(placing, gang),
      ...(groups === 'native' && { schedulingGroup: { podGroupName: groupName(gang) } }),
      containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu, memory } } }],
    },
  };
}

/** Returns a pod with low priority on its node. */
export function victimManifest(
  kind: Pick<PodKind, 'groups' | 'schedulerName'>,
  { cpu, gangSize }: Victims,
  index: number,
  nodes: number,
): object {
  const victim: PodKind = { ...kind, cpu, memory: '100Mi', priority: 'low' };
  return podManifest(victim, index, Math.floor(index / gangSize), nodeName(index % nodes));
}
