import type { PodVolume } from '../api/pod-volume.ts';
import type { Pod } from '../api/pod.ts';
import type { ListedObject } from '../api/listed-object.ts';
import type { ListedObjectsView } from '../cluster/listed-objects.ts';

/** The claim of one volume of a pod. */
export type ClaimVolume = Extract<PodVolume, { readonly type: 'claim' }>;

/** In the order of the pod's volumes. */
export function claimVolumesOf({ volumes }: Pod): readonly ClaimVolume[] {
  return volumes.filter((volume) => volume.type === 'claim');
}

/** Whether the object is the claim of one of the pod's volumes. */
export function usesClaim(pod: Pod, object: ListedObject, { ephemeral = true } = {}): boolean {
  if (object.kind !== 'PersistentVolumeClaim' || object.namespace !== pod.namespace) return false;
  return pod.volumes.some(
    (volume) => volume.type === 'claim' && volume.claimName === object.name && (ephemeral || !volume.isEphemeral),
  );
}

/** Whether one of the pod's claims names the volume as its own. */
export function usesVolume(pod: Pod, volumeName: string, listed: ListedObjectsView): boolean {
  return claimVolumesOf(pod).some(
    ({ claimName }) => listed.get('PersistentVolumeClaim', pod.namespace, claimName)?.volumeName === volumeName,
  );
}
