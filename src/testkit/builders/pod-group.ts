import type { PodGroupSpec, PodGroupStatus } from '../../api/pod-group.ts';
import { groupMetadata } from './group-metadata.ts';
import type { GroupIdentity } from './group-metadata.ts';
import type { Identity } from './identity.ts';

export interface PodGroupOptions extends PodGroupSpec, GroupIdentity {
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
      ...groupMetadata(options, identity),
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
