import type { PersistentVolumeClaim } from '../api/persistent-volume-claim.ts';
import type { Pod } from '../api/pod.ts';

// Wording of kube-scheduler.

export function claimNotFound(name: string): string {
  return `persistentvolumeclaim ${JSON.stringify(name)} not found`;
}

export function volumeNotFound(name: string): string {
  return `persistentvolume ${JSON.stringify(name)} not found`;
}

export function classNotFound(name: string): string {
  return `storageclass.storage.k8s.io ${JSON.stringify(name)} not found`;
}

export function withoutBindingMode(className: string): string {
  return `VolumeBindingMode not set for StorageClass ${JSON.stringify(className)}`;
}

/** Returns why a claim is not the ephemeral claim of the pod although it has its name; undefined: it is. */
export function notOwned(pod: Pod, { namespace, name, ownerUid }: PersistentVolumeClaim): string | undefined {
  if (ownerUid === pod.uid) return undefined;
  return `PVC ${namespace}/${name} was not created for pod ${pod.key} (pod is not owner)`;
}
