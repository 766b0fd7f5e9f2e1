import { initiallyScheduled } from '../../api/native-pod-group.ts';
import { groupMetadata } from './group-metadata.ts';
import type { GroupIdentity } from './group-metadata.ts';
import type { Identity } from './identity.ts';

export interface NativePodGroupOptions extends GroupIdentity {
  /** Absent: the policy is `basic`. */
  readonly minCount?: number;
  readonly disruptionMode?: 'single' | 'all';
  /** Default: 0. */
  readonly priority?: number;
  readonly preemptionPolicy?: 'PreemptLowerPriority' | 'Never';
  readonly topologyKey?: string;
  /** Names of ResourceClaims. */
  readonly resourceClaims?: readonly string[];
  readonly parentCompositePodGroupName?: string;
  /** RFC 3339 time at which the condition PodGroupInitiallyScheduled became True. */
  readonly scheduledAt?: string;
}

/** A scheduling.k8s.io/v1beta1 PodGroup as the API server returns it. */
export function buildNativePodGroup(options: NativePodGroupOptions, identity: Identity): object {
  const { minCount, topologyKey, resourceClaims, preemptionPolicy, parentCompositePodGroupName, scheduledAt } = options;
  return {
    apiVersion: 'scheduling.k8s.io/v1beta1',
    kind: 'PodGroup',
    metadata: groupMetadata(options, identity),
    spec: {
      schedulingPolicy: minCount === undefined ? { basic: {} } : { gang: { minCount } },
      disruptionMode: { [options.disruptionMode ?? 'single']: {} },
      priority: options.priority ?? 0,
      ...(preemptionPolicy !== undefined && { preemptionPolicy }),
      ...(topologyKey !== undefined && { schedulingConstraints: { topology: [{ key: topologyKey }] } }),
      ...(resourceClaims !== undefined && {
        resourceClaims: resourceClaims.map((name) => ({ name, resourceClaimName: name })),
      }),
      ...(parentCompositePodGroupName !== undefined && { parentCompositePodGroupName }),
    },
    ...(scheduledAt !== undefined && {
      status: {
        conditions: [
          {
            type: initiallyScheduled,
            status: 'True',
            reason: 'Scheduled',
            message: '',
            lastTransitionTime: scheduledAt,
          },
        ],
      },
    }),
  };
}
