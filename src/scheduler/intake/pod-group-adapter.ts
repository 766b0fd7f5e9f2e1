import {
  confirmsStart,
  defaultMaxRepairGraceMs,
  repairGraceMsOf,
  startedSince,
  startsAnew,
} from '../../api/pod-group.ts';
import type { PodGroup } from '../../api/pod-group.ts';
import { amountIn, toResourceList } from '../../api/resource-list.ts';
import type { ResourceList, ResourceSum } from '../../api/resource-list.ts';
import type { ResourceNames } from '../../api/resource-names.ts';
import type { GangSpec } from '../../cluster/gang-spec.ts';

/** Converts a `scheduling.x-k8s.io` PodGroup to the fields that the core reads. `maxRepairGraceMs`: the administrator's maximum. */
export function gangSpecOf(
  podGroup: PodGroup,
  names: ResourceNames,
  maxRepairGraceMs = defaultMaxRepairGraceMs,
): GangSpec {
  return {
    source: 'scheduling.x-k8s.io',
    uid: podGroup.uid,
    key: podGroup.key,
    creationTimestamp: podGroup.creationTimestamp,
    minMember: podGroup.minMember,
    minResources: minResourcesOf(podGroup, names),
    scheduleTimeoutSeconds: podGroup.scheduleTimeoutSeconds,
    startedSince: startedSince(podGroup.status),
    startsAnew: startsAnew(podGroup.status),
    confirmsStart: confirmsStart(podGroup.status),
    releases: podGroup.repairPolicy === 'Release',
    repairGraceMs: repairGraceMsOf(podGroup, maxRepairGraceMs),
  };
}

function minResourcesOf({ minResources }: PodGroup, names: ResourceNames): ResourceList | undefined {
  if (minResources === undefined) return undefined;
  const sum: ResourceSum = new Map();
  for (const [name, quantity] of minResources) sum.set(name, amountIn(name, quantity));
  return toResourceList(sum, names);
}
