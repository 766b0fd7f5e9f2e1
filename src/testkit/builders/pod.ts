import { runtimeAnnotation } from '../../api/declared-runtime.ts';
import { podGroupLabel } from '../../api/pod-group-membership.ts';
import type { NodeAffinityRules, PodPhase, RawPod, Toleration } from '../../api/pod.ts';
import { rfc3339 } from './identity.ts';
import type { Identity } from './identity.ts';

export interface PodOptions {
  readonly name?: string;
  /** Default: `default`. */
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** Milliseconds since the epoch; default: one second after the previous object. */
  readonly createdAt?: number;
  /** PodGroup in the label. */
  readonly group?: string;
  /** PodGroup in the annotation. */
  readonly groupAnnotation?: string;
  /** PodGroup of Kubernetes itself, in spec.schedulingGroup. */
  readonly schedulingGroup?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Requests of the only container. */
  readonly cpu?: string | number;
  readonly memory?: string | number;
  /** Additional requests of the only container: resource name -> quantity */
  readonly requests?: Readonly<Record<string, string | number>>;
  /** Host ports of the only container. A number means this TCP port on all addresses. */
  readonly hostPorts?: readonly (
    number | { readonly hostPort: number; readonly hostIP?: string; readonly protocol?: string }
  )[];
  readonly priority?: number;
  readonly schedulerName?: string;
  /** Node to which the pod is bound. The phase then defaults to Running. */
  readonly nodeName?: string;
  readonly nominatedNodeName?: string;
  readonly gates?: readonly string[];
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly nodeAffinity?: NodeAffinityRules;
  readonly tolerations?: readonly Toleration[];
  readonly phase?: PodPhase;
  readonly deleting?: boolean;
  /** Name and uid of the ReplicaSet that owns the pod. */
  readonly owner?: string;
  /** Name and uid of the Job that owns the pod. */
  readonly job?: string;
  /** Annotation tutti.dev/runtime. */
  readonly runtime?: string;
  readonly activeDeadlineSeconds?: number;
  readonly conditions?: NonNullable<RawPod['status']>['conditions'];
  /** Replaces fields of the spec, such as containers, initContainers or overhead. */
  readonly spec?: Partial<RawPod['spec']>;
  /** Replaces fields of the status, such as containerStatuses. The name of the only container is main. */
  readonly status?: Partial<NonNullable<RawPod['status']>>;
}

/** A v1 Pod as the API server returns it. */
export type PodObject = RawPod & { readonly apiVersion: 'v1'; readonly kind: 'Pod' };

export function buildPod(options: PodOptions, identity: Identity): PodObject {
  const requests = { ...options.requests };
  if (options.cpu !== undefined) requests.cpu = options.cpu;
  if (options.memory !== undefined) requests.memory = options.memory;
  const labels = { ...options.labels, ...(options.group !== undefined && { [podGroupLabel]: options.group }) };
  const annotations = {
    ...options.annotations,
    ...(options.groupAnnotation !== undefined && { [podGroupLabel]: options.groupAnnotation }),
    ...(options.runtime !== undefined && { [runtimeAnnotation]: options.runtime }),
  };
  const created = options.createdAt === undefined ? identity.creationTimestamp : rfc3339(options.createdAt);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: options.name ?? `pod-${identity.resourceVersion}`,
      namespace: options.namespace ?? 'default',
      uid: options.uid ?? identity.uid,
      resourceVersion: options.resourceVersion ?? identity.resourceVersion,
      creationTimestamp: created,
      ...(options.owner !== undefined && { ownerReferences: [controlledBy('apps/v1', 'ReplicaSet', options.owner)] }),
      ...(options.job !== undefined && { ownerReferences: [controlledBy('batch/v1', 'Job', options.job)] }),
      ...(options.deleting === true && { deletionTimestamp: identity.creationTimestamp }),
      ...(Object.keys(labels).length > 0 && { labels }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    spec: {
      containers: [
        {
          name: 'main',
          image: 'registry.example/main:1',
          resources: Object.keys(requests).length > 0 ? { requests } : {},
          ...(options.hostPorts !== undefined && { ports: options.hostPorts.map(containerPort) }),
        },
      ],
      schedulerName: options.schedulerName ?? 'default-scheduler',
      priority: options.priority ?? 0,
      ...(options.nodeName !== undefined && { nodeName: options.nodeName }),
      ...(options.schedulingGroup !== undefined && { schedulingGroup: { podGroupName: options.schedulingGroup } }),
      ...(options.gates !== undefined && { schedulingGates: options.gates.map((name) => ({ name })) }),
      ...(options.nodeSelector !== undefined && { nodeSelector: options.nodeSelector }),
      ...(options.activeDeadlineSeconds !== undefined && { activeDeadlineSeconds: options.activeDeadlineSeconds }),
      ...(options.nodeAffinity !== undefined && { affinity: { nodeAffinity: options.nodeAffinity } }),
      ...(options.tolerations !== undefined && { tolerations: options.tolerations }),
      ...options.spec,
    },
    status: {
      phase: options.phase ?? (options.nodeName === undefined ? 'Pending' : 'Running'),
      ...(options.nominatedNodeName !== undefined && { nominatedNodeName: options.nominatedNodeName }),
      ...(options.conditions !== undefined && { conditions: options.conditions }),
      ...options.status,
    },
  };
}

type Owner = NonNullable<RawPod['metadata']['ownerReferences']>[number];

function controlledBy(apiVersion: string, kind: string, name: string): Owner {
  return { apiVersion, kind, name, uid: name, controller: true };
}

function containerPort(port: NonNullable<PodOptions['hostPorts']>[number]): object {
  const ports = typeof port === 'number' ? { hostPort: port } : port;
  // The defaults of the API server.
  return { containerPort: ports.hostPort, protocol: 'TCP', ...ports };
}
