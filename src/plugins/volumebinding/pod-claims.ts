import type { PersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import type { Pod } from '../../api/pod.ts';
import { waitsForConsumer } from '../../api/storage-class.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import { Status } from '../../framework/status.ts';
import { claimVolumesOf } from '../pod-claims.ts';
import { claimNotFound, notOwned, withoutBindingMode } from '../storage-reasons.ts';

/** The claims of a pod without duplicates, in the order of its volumes. */
export interface PodClaims {
  readonly bound: readonly PersistentVolumeClaim[];
  /** Claims whose volume is chosen or provisioned after the pod gets its node. */
  readonly delayed: readonly PersistentVolumeClaim[];
}

/**
 * Returns the pod's claims, or a Status if the pod cannot be scheduled until they change. `own`: name -> anonymous replacement for an
 * interchangeable claim.
 */
export function claimsOf(
  pod: Pod,
  { listed, assumedVolumes }: Pick<ClusterLister, 'listed' | 'assumedVolumes'>,
  plugin: string,
  own: ReadonlyMap<string, PersistentVolumeClaim>,
): PodClaims | Status {
  const reject = (text: string): Status =>
    new Status('UnschedulableAndUnresolvable', { text, code: 'VolumeUnavailable' }, plugin);
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
    const ownerProblem = isEphemeral ? notOwned(pod, claim) : undefined;
    if (ownerProblem !== undefined) return reject(ownerProblem);
  }
  const bound: PersistentVolumeClaim[] = [];
  const delayed: PersistentVolumeClaim[] = [];
  let isUnbound = false;
  for (const claimName of new Set(volumes.map((volume) => volume.claimName))) {
    const ownClaim = own.get(claimName);
    if (ownClaim !== undefined) {
      delayed.push(ownClaim);
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
    // A claim that names its volume is bound like those of immediate binding mode.
    if (storageClass !== undefined && waitsForConsumer(storageClass) && claim.volumeName === '') delayed.push(claim);
    else isUnbound = true;
  }
  return isUnbound ? reject('pod has unbound immediate PersistentVolumeClaims') : { bound, delayed };
}
