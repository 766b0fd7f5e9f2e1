import type { Placing } from '../workload.ts';
import type { GroupKind } from './load-protocol.ts';

export const namespace = 'bench';

/** Returns a node as its kubelet would register it. */
export function nodeManifest(index: number, cpu: number): object {
  const name = `node-${index}`;
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

export const groupPath = {
  label: `/apis/scheduling.x-k8s.io/v1alpha1/namespaces/${namespace}/podgroups`,
  native: `/apis/scheduling.k8s.io/v1beta1/namespaces/${namespace}/podgroups`,
} as const;

export function groupManifest(kind: Exclude<GroupKind, 'none'>, gang: number, minMember: number): object {
  const metadata = { name: groupName(gang) };
  switch (kind) {
    case 'label':
      return { apiVersion: 'scheduling.x-k8s.io/v1alpha1', kind: 'PodGroup', metadata, spec: { minMember } };
    case 'native':
      return {
        apiVersion: 'scheduling.k8s.io/v1beta1',
        kind: 'PodGroup',
        metadata,
        spec: { schedulingPolicy: { gang: { minCount: minMember } } },
      };
  }
}

export function podName(index: number): string {
  return `pod-${index}`;
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

export function podManifest(
  groups: GroupKind,
  schedulerName: string,
  index: number,
  gang: number,
  placing?: Placing,
): object {
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
      ...placingSpec(placing, gang),
      ...(groups === 'native' && { schedulingGroup: { podGroupName: groupName(gang) } }),
      containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '1', memory: '1Gi' } } }],
    },
  };
}
