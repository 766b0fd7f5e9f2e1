import { noVolumes } from '../api/pod-volume.ts';
import type { Pod } from '../api/pod.ts';
import type { PersistentVolumeClaim } from '../api/persistent-volume-claim.ts';
import { waitsForConsumer } from '../api/storage-class.ts';
import type { ClusterLister } from '../framework/plugin-handle.ts';
import type { ClaimVolume } from './pod-claims.ts';

/** Not a valid name of an API object. */
const anonymous = '\u0000';

/**
 * Finds claims that are interchangeable: their volume is chosen or provisioned after the pod gets its node, no volume or node is
 * reserved for them, and no other pod uses them. If two such claims request the same, it does not matter which one a pod has. So the
 * members of a StatefulSet have equal signatures although each has claims of its own.
 *
 * Only for pods that are not scheduled yet. A result holds within one attempt, except for pods that the attempt has placed in the meantime.
 */
export class InterchangeableClaims {
  readonly #cluster: Pick<ClusterLister, 'listed' | 'assumedVolumes' | 'claimsInUse' | 'openPod'>;
  /** StorageClass -> "namespace/name" of the claims that have an assumed volume of this class */
  readonly #withVolume = new Map<string, ReadonlySet<string>>();
  /** Revision of the assumed volumes from which `#withVolume` was built. */
  #revision = -1;

  constructor(cluster: Pick<ClusterLister, 'listed' | 'assumedVolumes' | 'claimsInUse' | 'openPod'>) {
    this.#cluster = cluster;
  }

  /** Returns the claim without its identity if it is interchangeable; undefined otherwise. */
  of(pod: Pod, { claimName, isEphemeral }: ClaimVolume): PersistentVolumeClaim | undefined {
    const { assumedVolumes, listed, claimsInUse } = this.#cluster;
    const claim = assumedVolumes.claim(pod.namespace, claimName);
    if (claim === undefined || claim.isLost || claim.deleting || claim.isBound) return undefined;
    if (claim.volumeName !== '' || claim.selectedNode !== undefined) return undefined;
    if (isEphemeral && claim.ownerUid !== pod.uid) return undefined;
    const storageClass = listed.get('StorageClass', '', claim.className);
    if (storageClass === undefined || !waitsForConsumer(storageClass)) return undefined;
    if (claimsInUse.allUsersOf(pod.namespace, claimName) !== 1 || this.#hasVolume(claim)) return undefined;
    // This pod is the only one that uses the claim. It must still be unscheduled.
    if (this.#cluster.openPod(pod.uid) === undefined) return undefined;
    return {
      ...claim,
      namespace: anonymous,
      name: anonymous,
      uid: anonymous,
      resourceVersion: '',
      ownerUid: undefined,
    };
  }

  /** Returns a signature for plugins that look up the objects behind the pod's volumes; empty for a pod without volumes. */
  signVolumes(pod: Pod): string {
    if (pod.volumes === noVolumes) return '';
    // Whether the claim was created for the pod depends on the pod's identity.
    let isOwn = false;
    const volumes = pod.volumes.map((volume) => {
      const claim = volume.type === 'claim' ? this.of(pod, volume) : undefined;
      isOwn ||= claim === undefined && volume.type === 'claim' && volume.isEphemeral;
      return claim ?? volume;
    });
    return JSON.stringify([pod.namespace, isOwn ? pod.uid : '', volumes]);
  }

  /** Like `signVolumes`, for plugins that ignore ephemeral volumes. */
  signSharedClaims(pod: Pod): string {
    if (pod.volumes === noVolumes) return '';
    const claims = pod.volumes.flatMap((volume) =>
      volume.type === 'claim' && !volume.isEphemeral ? [this.of(pod, volume) ?? volume.claimName] : [],
    );
    return claims.length === 0 ? '' : JSON.stringify([pod.namespace, claims]);
  }

  #hasVolume({ className, namespace, name }: PersistentVolumeClaim): boolean {
    const { assumedVolumes } = this.#cluster;
    if (this.#revision !== assumedVolumes.revision) {
      this.#revision = assumedVolumes.revision;
      this.#withVolume.clear();
    }
    let claims = this.#withVolume.get(className);
    if (claims === undefined) {
      const keys = new Set<string>();
      for (const { claim } of assumedVolumes.volumesOfClass(className)) {
        if (claim !== undefined) keys.add(`${claim.namespace}/${claim.name}`);
      }
      this.#withVolume.set(className, (claims = keys));
    }
    return claims.has(`${namespace}/${name}`);
  }
}
