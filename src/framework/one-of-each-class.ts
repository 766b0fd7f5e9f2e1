import type { Pod } from '../api/pod.ts';

/**
 * Returns one member per pod class for the queueing hints: capacity for any member may be what the rejected one lacks.
 */
export function oneOfEachClass(members: Iterable<Pod>): readonly Pod[] {
  /** template, or the pod itself if it may wait for its own PersistentVolumeClaims -> pod */
  const podClasses = new Map<Pod['template'] | Pod, Pod>();
  for (const pod of members) podClasses.set(pod.volumes.length === 0 ? pod.template : pod, pod);
  return [...podClasses.values()];
}
