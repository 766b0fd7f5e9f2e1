import { noVolumes } from '../api/pod-volume.ts';
import type { PodVolume } from '../api/pod-volume.ts';
import type { Pod } from '../api/pod.ts';
import type { ListedObject } from '../api/listed-object.ts';

/** The claim of one volume of a pod. */
export type ClaimVolume = Extract<PodVolume, { readonly type: 'claim' }>;

/** In the order of the pod's volumes. */
export function claimVolumesOf({ volumes }: Pod): readonly ClaimVolume[] {
  return volumes.filter((volume) => volume.type === 'claim');
}

/** What makes pods alike to plugins that look up what stands behind their volumes; empty for those that have none of these. */
export function signVolumes({ namespace, uid, volumes }: Pod): string {
  if (volumes === noVolumes) return '';
  // Whether a claim was made for the pod depends on which pod it is.
  const isOwn = volumes.some((volume) => volume.type === 'claim' && volume.isEphemeral);
  return JSON.stringify([namespace, isOwn ? uid : '', volumes]);
}

/** As `signVolumes`, for plugins to which only claims matter that are there for any pod. */
export function signSharedClaims({ namespace, volumes }: Pod): string {
  if (volumes === noVolumes) return '';
  const names = volumes.flatMap((volume) => (volume.type === 'claim' && !volume.isEphemeral ? [volume.claimName] : []));
  return names.length === 0 ? '' : JSON.stringify([namespace, names]);
}

/** Whether the object is the claim of one of the pod's volumes. */
export function usesClaim(pod: Pod, object: ListedObject, { ephemeral = true } = {}): boolean {
  if (object.kind !== 'PersistentVolumeClaim' || object.namespace !== pod.namespace) return false;
  return pod.volumes.some(
    (volume) => volume.type === 'claim' && volume.claimName === object.name && (ephemeral || !volume.isEphemeral),
  );
}
