import { noVolumes } from '../api/pod-volume.ts';
import type { Pod } from '../api/pod.ts';
import type { PersistentVolumeClaim } from '../api/persistent-volume-claim.ts';
import { waitsForConsumer } from '../api/storage-class.ts';
import type { ClusterLister } from '../framework/plugin-handle.ts';
import type { ClaimVolume } from './pod-claims.ts';

/** No claim of the API's is called so. */
const nobody = '\u0000';

/**
 * Claims that are their pod's own and for which nothing has been decided: their volumes are chosen, or made, once the pod has its node,
 * nobody has kept a volume or a node for them, and no other pod names them. Which of two such claims a pod has is all the same if they ask
 * for the same, so that the members of a StatefulSet are alike although each has claims of its own.
 *
 * Of pods that are not placed yet. What is said here holds within one attempt, but for pods that it has placed meanwhile.
 */
export class InterchangeableClaims {
  readonly #cluster: Pick<ClusterLister, 'listed' | 'assumedVolumes' | 'claimsInUse' | 'openPod'>;
  /** class -> "namespace/name" of claims for which one of its volumes is kept */
  readonly #kept = new Map<string, ReadonlySet<string>>();
  /** Of the assumed volumes, to which `#kept` belongs. */
  #revision = -1;

  constructor(cluster: Pick<ClusterLister, 'listed' | 'assumedVolumes' | 'claimsInUse' | 'openPod'>) {
    this.#cluster = cluster;
  }

  /** The claim as that of nobody in particular; undefined: it matters which one it is. */
  of(pod: Pod, { claimName, isEphemeral }: ClaimVolume): PersistentVolumeClaim | undefined {
    const { assumedVolumes, listed, claimsInUse } = this.#cluster;
    const claim = assumedVolumes.claim(pod.namespace, claimName);
    if (claim === undefined || claim.isLost || claim.deleting || claim.isBound) return undefined;
    if (claim.volumeName !== '' || claim.selectedNode !== undefined) return undefined;
    if (isEphemeral && claim.ownerUid !== pod.uid) return undefined;
    const storageClass = listed.get('StorageClass', '', claim.className);
    if (storageClass === undefined || !waitsForConsumer(storageClass)) return undefined;
    if (claimsInUse.namersOf(pod.namespace, claimName) !== 1 || this.#isKept(claim)) return undefined;
    // The one that names it is this one, and is still to be placed.
    if (this.#cluster.openPod(pod.uid) === undefined) return undefined;
    return { ...claim, namespace: nobody, name: nobody, uid: nobody, resourceVersion: '', ownerUid: undefined };
  }

  /** What makes pods alike to plugins that look up what stands behind their volumes; empty for those that have none of these. */
  signVolumes(pod: Pod): string {
    if (pod.volumes === noVolumes) return '';
    // Whether a claim was made for the pod depends on which pod it is.
    let isOwn = false;
    const volumes = pod.volumes.map((volume) => {
      const claim = volume.type === 'claim' ? this.of(pod, volume) : undefined;
      isOwn ||= claim === undefined && volume.type === 'claim' && volume.isEphemeral;
      return claim ?? volume;
    });
    return JSON.stringify([pod.namespace, isOwn ? pod.uid : '', volumes]);
  }

  /** As `signVolumes`, for plugins to which only claims matter that are there for any pod. */
  signSharedClaims(pod: Pod): string {
    if (pod.volumes === noVolumes) return '';
    const claims = pod.volumes.flatMap((volume) =>
      volume.type === 'claim' && !volume.isEphemeral ? [this.of(pod, volume) ?? volume.claimName] : [],
    );
    return claims.length === 0 ? '' : JSON.stringify([pod.namespace, claims]);
  }

  #isKept({ className, namespace, name }: PersistentVolumeClaim): boolean {
    const { assumedVolumes } = this.#cluster;
    if (this.#revision !== assumedVolumes.revision) {
      this.#revision = assumedVolumes.revision;
      this.#kept.clear();
    }
    let kept = this.#kept.get(className);
    if (kept === undefined) {
      const keys = new Set<string>();
      for (const { claim } of assumedVolumes.volumesOfClass(className)) {
        if (claim !== undefined) keys.add(`${claim.namespace}/${claim.name}`);
      }
      this.#kept.set(className, (kept = keys));
    }
    return kept.has(`${namespace}/${name}`);
  }
}
