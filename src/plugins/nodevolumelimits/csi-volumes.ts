import { driverOfInTree } from '../../api/in-tree-volume.ts';
import type { CsiVolume, InTreeVolume } from '../../api/in-tree-volume.ts';
import type { PersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import type { Pod } from '../../api/pod.ts';
import type { ListedObjectsView } from '../../cluster/listed-objects.ts';
import { Status } from '../../framework/status.ts';
import type { ClaimVolume } from '../pod-claims.ts';
import { claimNotFound, notOwned } from '../storage-reasons.ts';

/** volume key -> its CSI driver */
export type CsiVolumes = Map<string, string>;

/** Prefix for claims whose volumes do not exist yet; no volume handle begins with it. */
const unprovisioned = '\u0000';

export interface CsiVolumesOptions {
  readonly listed: ListedObjectsView;
  /** True if the node has a CSINode. Otherwise volumes of migrated in-tree plugins do not count for any driver. */
  readonly hasDrivers: boolean;
  readonly plugin: string;
  /** Returns whether no other pod can use the volume of this claim; if so, its key is unique to the pod. */
  readonly isOwn: (volume: ClaimVolume) => boolean;
}

/** Returns the volumes of a pod that CSI drivers attach to its node, or a Status if they cannot be determined. */
export function csiVolumesOf(pod: Pod, { listed, hasDrivers, plugin, isOwn }: CsiVolumesOptions): CsiVolumes | Status {
  const found: CsiVolumes = new Map();
  for (const volume of pod.volumes) {
    if (volume.type === 'inline') {
      const migrated = migratedOf(volume.inTree, hasDrivers);
      if (migrated === undefined) continue;
      if ('problem' in migrated) {
        return new Status('Error', `converting volume(${volume.name}) from inline to csi: ${migrated.problem}`, plugin);
      }
      add(found, migrated);
      continue;
    }
    const { claimName, isEphemeral } = volume;
    if (claimName === '') return new Status('Error', 'PersistentVolumeClaim had no name', plugin);
    const claim = listed.get('PersistentVolumeClaim', pod.namespace, claimName);
    if (claim === undefined) {
      const text = `looking up PVC ${pod.namespace}/${claimName}: ${claimNotFound(claimName)}`;
      return new Status('UnschedulableAndUnresolvable', { text, code: 'VolumeUnavailable' }, plugin);
    }
    const ownerProblem = isEphemeral ? notOwned(pod, claim) : undefined;
    if (ownerProblem !== undefined) return new Status('Error', ownerProblem, plugin);
    const csiVolume = volumeOfClaim(claim, listed, hasDrivers);
    if (csiVolume !== undefined)
      add(found, isOwn(volume) ? { ...csiVolume, handle: `${unprovisioned}${unprovisioned}${found.size}` } : csiVolume);
  }
  return found;
}

/** Like `csiVolumesOf` for a pod on a node. Skips volumes that cannot be determined. */
export function addCsiVolumesOf(pod: Pod, listed: ListedObjectsView, hasDrivers: boolean, found: CsiVolumes): void {
  for (const volume of pod.volumes) {
    if (volume.type === 'inline') {
      const migrated = migratedOf(volume.inTree, hasDrivers);
      if (migrated !== undefined && !('problem' in migrated)) add(found, migrated);
      continue;
    }
    const claim = listed.get('PersistentVolumeClaim', pod.namespace, volume.claimName);
    if (claim === undefined || (volume.isEphemeral && notOwned(pod, claim) !== undefined)) continue;
    const csiVolume = volumeOfClaim(claim, listed, hasDrivers);
    if (csiVolume !== undefined) add(found, csiVolume);
  }
}

/** Returns the unique key of the volume. */
export function volumeKey({ driver, handle }: CsiVolume): string {
  return `${driver}/${handle}`;
}

function add(found: CsiVolumes, volume: CsiVolume): void {
  if (volume.driver !== '' && volume.handle !== '') found.set(volumeKey(volume), volume.driver);
}

function migratedOf(inTree: InTreeVolume | undefined, hasDrivers: boolean): InTreeVolume['migrated'] {
  return hasDrivers ? inTree?.migrated : undefined;
}

function volumeOfClaim(
  claim: PersistentVolumeClaim,
  listed: ListedObjectsView,
  hasDrivers: boolean,
): CsiVolume | undefined {
  const { volumeName, className, namespace, name } = claim;
  const volume = volumeName === '' ? undefined : listed.get('PersistentVolume', '', volumeName);
  if (volume !== undefined) {
    if (volume.csi !== undefined) return volume.csi;
    const migrated = migratedOf(volume.inTree, hasDrivers);
    return migrated === undefined || 'problem' in migrated ? undefined : migrated;
  }
  // The class's provisioner will create the volume. A claim without a class would already be bound.
  const storageClass = className === '' ? undefined : listed.get('StorageClass', '', className);
  if (storageClass === undefined) return undefined;
  const driver = driverOfInTree(storageClass.provisioner);
  const handle = `${unprovisioned}${namespace}/${name}`;
  if (driver === undefined) return { driver: storageClass.provisioner, handle };
  return driver === false || !hasDrivers ? undefined : { driver, handle };
}
