import type { PodGroupSpec, PodGroupStatus } from '../../api/pod-group.ts';
import { rfc3339 } from './identity.ts';
import type { Identity } from './identity.ts';

export interface PodGroupOptions extends PodGroupSpec {
  readonly name?: string;
  /** Default: `default`. */
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** Milliseconds since the epoch; default: one second after the previous object. */
  readonly createdAt?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly status?: PodGroupStatus;
}

/** A scheduling.x-k8s.io/v1alpha1 PodGroup as the API server returns it. */
export interface PodGroupObject {
  readonly apiVersion: 'scheduling.x-k8s.io/v1alpha1';
  readonly kind: 'PodGroup';
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation: number;
    readonly creationTimestamp: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: PodGroupSpec;
  readonly status?: PodGroupStatus;
}

export function buildPodGroup(options: PodGroupOptions, identity: Identity): PodGroupObject {
  const { minMember, minResources, scheduleTimeoutSeconds, repairPolicy, repairGraceSeconds } = options;
  return {
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    metadata: {
      name: options.name ?? `group-${identity.resourceVersion}`,
      namespace: options.namespace ?? 'default',
      uid: options.uid ?? identity.uid,
      resourceVersion: options.resourceVersion ?? identity.resourceVersion,
      generation: 1,
      creationTimestamp: options.createdAt === undefined ? identity.creationTimestamp : rfc3339(options.createdAt),
      ...(options.labels !== undefined && { labels: options.labels }),
      ...(options.annotations !== undefined && { annotations: options.annotations }),
    },
    spec: {
      ...(minMember !== undefined && { minMember }),
      ...(minResources !== undefined && { minResources }),
      ...(scheduleTimeoutSeconds !== undefined && { scheduleTimeoutSeconds }),
      ...(repairPolicy !== undefined && { repairPolicy }),
      ...(repairGraceSeconds !== undefined && { repairGraceSeconds }),
    },
    ...(options.status !== undefined && { status: options.status }),
  };
}
