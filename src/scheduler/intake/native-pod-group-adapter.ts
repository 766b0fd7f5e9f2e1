import { defaultMaxRepairGraceMs, defaultRepairGraceSeconds, repairGraceMsOf } from '../../api/pod-group.ts';
import type { NativePodGroup } from '../../api/native-pod-group.ts';
import type { GangSpec } from '../../cluster/gang-spec.ts';

/**
 * Converts a `scheduling.k8s.io` PodGroup to the fields that the core reads. A group with the policy `basic` has no quorum. What Kubernetes calls
 * disruption mode `single` is stricter here: preemption leaves no gang below its quorum. `maxRepairGraceMs`: the administrator's maximum.
 */
export function nativeGangSpecOf(group: NativePodGroup, maxRepairGraceMs = defaultMaxRepairGraceMs): GangSpec {
  const { minCount, scheduled } = group;
  const isScheduled = scheduled?.status === 'True';
  return {
    source: 'scheduling.k8s.io',
    uid: group.uid,
    key: group.key,
    creationTimestamp: group.creationTimestamp,
    minMember: minCount ?? 0,
    minResources: undefined,
    scheduleTimeoutSeconds: undefined,
    startedSince: isScheduled ? String(scheduled.lastTransitionTime) : undefined,
    startIsSticky: true,
    startsAnew: false,
    confirmsStart: scheduled !== undefined,
    releases: true,
    repairGraceMs: repairGraceMsOf({ repairGraceSeconds: defaultRepairGraceSeconds }, maxRepairGraceMs),
    unsupported: describeUnsupported(group),
    ...(minCount !== undefined && { waitsForGates: true as const }),
    ...(group.disruptsAll && { evictedWhole: true as const }),
    memberPriority: group.priority,
    memberPreemptionPolicy: group.preemptionPolicy,
  };
}

/** Returns the spec of a group that the API server no longer serves. */
export function withoutApi(spec: GangSpec): GangSpec {
  return { ...spec, unsupported: describeAbsence(spec.key) };
}

function describeAbsence(key: string): string {
  return `PodGroup ${key} cannot be read, because the API server does not serve PodGroups of scheduling.k8s.io now`;
}

function describeUnsupported({ key, topologyKey, hasResourceClaims, parentName }: NativePodGroup): string | undefined {
  if (parentName !== undefined) {
    return (
      `PodGroup ${key} belongs to CompositePodGroup ${parentName}, which Tutti does not support yet: ` +
      'create it without spec.parentCompositePodGroupName'
    );
  }
  if (topologyKey !== undefined) {
    return (
      `PodGroup ${key} asks for one domain of ${topologyKey}, which Tutti does not support yet: ` +
      'create it without spec.schedulingConstraints'
    );
  }
  if (hasResourceClaims) {
    return (
      `PodGroup ${key} shares ResourceClaims among its pods, which Tutti does not support yet: ` +
      'create it without spec.resourceClaims'
    );
  }
  return undefined;
}
