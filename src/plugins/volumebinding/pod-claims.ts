import type { PersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import type { Pod } from '../../api/pod.ts';
import { waitsForConsumer } from '../../api/storage-class.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import { Status } from '../../framework/status.ts';
import { claimVolumesOf } from '../pod-claims.ts';
import { claimNotFound, notOwned, withoutBindingMode } from '../storage-reasons.ts';

/** The claims of a pod, each once, in the order of its volumes. */
export interface PodClaims {
  readonly bound: readonly PersistentVolumeClaim[];
  /** Those whose volume is chosen, or made, for the node of the pod. */
  readonly delayed: readonly PersistentVolumeClaim[];
}

/** A Status says why the pod cannot be placed before its claims are otherwise. `own`: name -> what stands for a claim, as open as it is. */
export function claimsOf(
  pod: Pod,
  { listed, assumedVolumes }: Pick<ClusterLister, 'listed' | 'assumedVolumes'>,
  plugin: string,
  own: ReadonlyMap<string, PersistentVolumeClaim>,
): PodClaims | Status {
  const reject = (reason: string): Status => new Status('UnschedulableAndUnresolvable', reason, plugin);
  const volumes = claimVolumesOf(pod);
  for (const { claimName, isEphemeral } of volumes) {
    if (own.has(claimName)) continue;
    const claim = listed.get('PersistentVolumeClaim', pod.namespace, claimName);
    if (claim === undefined) {
      return reject(
        isEphemeral
          ? `waiting for ephemeral volume controller to create the persistentvolumeclaim ${JSON.stringify(claimName)}`
          : claimNotFound(claimName),
      );
    }
    if (claim.isLost) {
      const volume = JSON.stringify(claim.volumeName);
      return reject(`persistentvolumeclaim "${claimName}" bound to non-existent persistentvolume ${volume}`);
    }
    if (claim.deleting) return reject(`persistentvolumeclaim "${claimName}" is being deleted`);
    const stranger = isEphemeral ? notOwned(pod, claim) : undefined;
    if (stranger !== undefined) return reject(stranger);
  }
  const bound: PersistentVolumeClaim[] = [];
  const delayed: PersistentVolumeClaim[] = [];
  let isUnbound = false;
  for (const claimName of new Set(volumes.map((volume) => volume.claimName))) {
    const its = own.get(claimName);
    if (its !== undefined) {
      delayed.push(its);
      continue;
    }
    const claim = assumedVolumes.claim(pod.namespace, claimName)!;
    if (claim.isBound) {
      bound.push(claim);
      continue;
    }
    const storageClass = listed.get('StorageClass', '', claim.className);
    if (storageClass !== undefined && storageClass.bindingMode === undefined) {
      return new Status('Error', withoutBindingMode(claim.className), plugin);
    }
    // One that names its volume is bound by whoever binds those that are bound at once.
    if (storageClass !== undefined && waitsForConsumer(storageClass) && claim.volumeName === '') delayed.push(claim);
    else isUnbound = true;
  }
  return isUnbound ? reject('pod has unbound immediate PersistentVolumeClaims') : { bound, delayed };
}
