import { NodeImages } from '../api/node-images.ts';
import type { NativePodGroup } from '../api/native-pod-group.ts';
import { projectNode } from '../api/node.ts';
import type { Node } from '../api/node.ts';
import { projectPodGroup } from '../api/pod-group.ts';
import { PodProjector } from '../api/pod-projector.ts';
import type { Pod } from '../api/pod.ts';
import type { GangSpec } from '../cluster/gang-spec.ts';
import { nativeGangSpecOf } from './intake/native-pod-group-adapter.ts';
import { gangSpecOf } from './intake/pod-group-adapter.ts';
import type { SchedulerCore } from './scheduler-core.ts';

/** Converts objects of the API to what a core's handlers take. Each throws an error that names the malformed field. */
export interface Projections {
  readonly node: (raw: unknown) => Node;
  readonly pod: (raw: unknown) => Pod;
  readonly podGroup: (raw: unknown) => GangSpec;
  readonly nativePodGroup: (group: NativePodGroup) => GangSpec;
}

/** Returns the projections for one core. They drop what its plugins do not read. `maxRepairGraceMs`: as in SchedulerOptions. */
export function projectionsFor(
  { cluster, profiles }: Pick<SchedulerCore, 'cluster' | 'profiles'>,
  maxRepairGraceMs?: number,
): Projections {
  const names = cluster.resources;
  const images = profiles.readsImages ? new NodeImages() : undefined;
  const projector = new PodProjector(names, {
    images: profiles.readsImages,
    controllers: profiles.hasReservations,
  });
  return {
    node: (raw) => projectNode(raw, names, images),
    pod: (raw) => projector.project(raw),
    podGroup: (raw) => gangSpecOf(projectPodGroup(raw), names, maxRepairGraceMs),
    nativePodGroup: (group) => nativeGangSpecOf(group, maxRepairGraceMs),
  };
}
