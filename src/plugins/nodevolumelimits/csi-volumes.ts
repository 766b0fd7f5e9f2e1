import { driverOfInTree } from '../../api/in-tree-volume.ts';
import type { CsiVolume, InTreeVolume } from '../../api/in-tree-volume.ts';
import type { PersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import type { Pod } from '../../api/pod.ts';
import type { ListedObjectsView } from '../../cluster/listed-objects.ts';
import { Status } from '../../framework/status.ts';
import type { ClaimVolume } from '../pod-claims.ts';
import { claimNotFound, notOwned } from '../storage-reasons.ts';

/** text that is a volume's own -> its driver */
export type CsiVolumes = Map<string, string>;

/** Stands before the claims whose volumes are still to be made: no handle of a volume begins so. */
const unmade = '\u0000';

export interface CsiVolumesOptions {
  readonly listed: ListedObjectsView;
  /** The node says which drivers it has; without that, volumes of in-tree plugins are none of a driver's. */
  readonly hasDrivers: boolean;
  readonly plugin: string;
  /** Whether nobody else can have the volume of this claim: it gets a text that is nobody's. */
  readonly isOwn: (volume: ClaimVolume) => boolean;
}

/** The volumes of a pod that a CSI driver attaches to its node. A Status where it cannot be said. */
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
      const reason = `looking up PVC ${pod.namespace}/${claimName}: ${claimNotFound(claimName)}`;
      return new Status('UnschedulableAndUnresolvable', reason, plugin);
    }
    const stranger = isEphemeral ? notOwned(pod, claim) : undefined;
    if (stranger !== undefined) return new Status('Error', stranger, plugin);
    const its = volumeOfClaim(claim, listed, hasDrivers);
    if (its !== undefined) add(found, isOwn(volume) ? { ...its, handle: `${unmade}${unmade}${found.size}` } : its);
  }
  return found;
}

/** As `csiVolumesOf`, of a pod that is on a node: what cannot be said of one of its volumes says nothing of the others. */
export function addCsiVolumesOf(pod: Pod, listed: ListedObjectsView, hasDrivers: boolean, found: CsiVolumes): void {
  for (const volume of pod.volumes) {
    if (volume.type === 'inline') {
      const migrated = migratedOf(volume.inTree, hasDrivers);
      if (migrated !== undefined && !('problem' in migrated)) add(found, migrated);
      continue;
    }
    const claim = listed.get('PersistentVolumeClaim', pod.namespace, volume.claimName);
    if (claim === undefined || (volume.isEphemeral && notOwned(pod, claim) !== undefined)) continue;
    const its = volumeOfClaim(claim, listed, hasDrivers);
    if (its !== undefined) add(found, its);
  }
}

/** What tells the volume from all others. */
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
  // It is to be made by the class's provisioner. Without a class it would have been bound before.
  const storageClass = className === '' ? undefined : listed.get('StorageClass', '', className);
  if (storageClass === undefined) return undefined;
  const driver = driverOfInTree(storageClass.provisioner);
  const handle = `${unmade}${namespace}/${name}`;
  if (driver === undefined) return { driver: storageClass.provisioner, handle };
  return driver === false || !hasDrivers ? undefined : { driver, handle };
}
