import type { PodVolume } from '../api/pod-volume.ts';
import type { Pod } from '../api/pod.ts';
import type { ListedObject } from '../api/listed-object.ts';
import type { ListedObjectsView } from '../cluster/listed-objects.ts';

/** A pod volume that refers to a PersistentVolumeClaim. */
export type ClaimVolume = Extract<PodVolume, { readonly type: 'claim' }>;

/** Returns the claim volumes in the order of the pod's volumes. */
export function claimVolumesOf({ volumes }: Pod): readonly ClaimVolume[] {
  return volumes.filter((volume) => volume.type === 'claim');
}

/** Returns whether the object is a claim that one of the pod's volumes uses. */
export function usesClaim(pod: Pod, object: ListedObject, { ephemeral = true } = {}): boolean {
  if (object.kind !== 'PersistentVolumeClaim' || object.namespace !== pod.namespace) return false;
  return pod.volumes.some(
    (volume) => volume.type === 'claim' && volume.claimName === object.name && (ephemeral || !volume.isEphemeral),
  );
}

/** Returns whether one of the pod's claims is bound to the volume. */
export function usesVolume(pod: Pod, volumeName: string, listed: ListedObjectsView): boolean {
  return claimVolumesOf(pod).some(
    ({ claimName }) => listed.get('PersistentVolumeClaim', pod.namespace, claimName)?.volumeName === volumeName,
  );
}
