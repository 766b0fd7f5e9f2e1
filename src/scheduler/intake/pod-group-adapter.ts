import { hasStarted, confirmsStart } from '../../api/pod-group.ts';
import type { PodGroup } from '../../api/pod-group.ts';
import { amountIn, toResourceList } from '../../api/resource-list.ts';
import type { ResourceList, ResourceSum } from '../../api/resource-list.ts';
import type { ResourceNames } from '../../api/resource-names.ts';
import type { GangSpec } from '../../cluster/gang.ts';

/** Converts a `scheduling.x-k8s.io` PodGroup to the fields that the core reads. */
export function gangSpecOf(podGroup: PodGroup, names: ResourceNames): GangSpec {
  return {
    uid: podGroup.uid,
    key: podGroup.key,
    creationTimestamp: podGroup.creationTimestamp,
    minMember: podGroup.minMember,
    minResources: minResourcesOf(podGroup, names),
    scheduleTimeoutSeconds: podGroup.scheduleTimeoutSeconds,
    started: hasStarted(podGroup.status),
    confirmsStart: confirmsStart(podGroup.status),
    releases: podGroup.repairPolicy === 'Release',
    repairGraceMs: podGroup.repairGraceSeconds * 1000,
  };
}

function minResourcesOf({ minResources }: PodGroup, names: ResourceNames): ResourceList | undefined {
  if (minResources === undefined) return undefined;
  const sum: ResourceSum = new Map();
  for (const [name, quantity] of minResources) sum.set(name, amountIn(name, quantity));
  return toResourceList(sum, names);
}
