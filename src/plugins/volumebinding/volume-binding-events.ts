import type { ListedObject } from '../../api/listed-object.ts';
import type { PersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import { isVolumeOf } from '../../api/persistent-volume.ts';
import type { PersistentVolume } from '../../api/persistent-volume.ts';
import type { Pod } from '../../api/pod.ts';
import { sameLabels } from '../../api/same-labels.ts';
import type { ClusterEvent, EventRegistration } from '../../framework/cluster-event.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import { claimVolumesOf, usesClaim } from '../pod-claims.ts';

type ListedEvent = Extract<ClusterEvent, { readonly object: ListedObject }>;

/**
 * Returns kube-scheduler's events, with hints that accept only events about the pod's own claims. In addition, a rejected pod may be
 * helped by released volume assumptions, by a driver that stops publishing capacity, and by the deletion of a volume reserved for a
 * claim.
 */
export function volumeBindingEvents({ listed }: Pick<ClusterLister, 'listed'>): readonly EventRegistration[] {
  const claimsOf = (pod: Pod): readonly (PersistentVolumeClaim | undefined)[] =>
    claimVolumesOf(pod).map(({ claimName }) => listed.get('PersistentVolumeClaim', pod.namespace, claimName));
  const requestsClass = (pod: Pod, className: string): boolean =>
    claimsOf(pod).some((claim) => claim === undefined || claim.className === className);
  const requestsProvisioner = (pod: Pod, provisioner: string): boolean =>
    claimsOf(pod).some(
      (claim) => claim !== undefined && listed.get('StorageClass', '', claim.className)?.provisioner === provisioner,
    );

  /** Returns whether one of the pod's claims names the volume, or the volume is reserved for one, which excludes other volumes. */
  const belongsToPod = (pod: Pod, volume: PersistentVolume): boolean =>
    claimsOf(pod).some(
      (claim) => claim !== undefined && (claim.volumeName === volume.name || isVolumeOf(volume, claim)),
    );

  const isAbout = (pod: Pod, { object, old, action }: ListedEvent): boolean => {
    switch (object.kind) {
      case 'StorageClass': {
        const was = old?.kind === 'StorageClass' ? old.allowedTopologies : undefined;
        const isMoved = JSON.stringify(was) !== JSON.stringify(object.allowedTopologies);
        return (old === undefined || isMoved) && requestsClass(pod, object.name);
      }
      case 'PersistentVolumeClaim':
        return usesClaim(pod, object);
      case 'PersistentVolume':
        if (belongsToPod(pod, object) || (old?.kind === 'PersistentVolume' && belongsToPod(pod, old))) return true;
        return action !== 'Delete' && object.claim === undefined && requestsClass(pod, object.group);
      case 'CSINode':
        return old?.kind !== 'CSINode' || old.migratedPlugins !== object.migratedPlugins;
      case 'CSIDriver': {
        const isRelaxed =
          action === 'Delete'
            ? object.publishesCapacity
            : old?.kind === 'CSIDriver' && old.publishesCapacity && !object.publishesCapacity;
        return isRelaxed && requestsProvisioner(pod, object.name);
      }
      case 'CSIStorageCapacity': {
        const before = old?.kind === 'CSIStorageCapacity' ? (old.largestVolume ?? -1) : -1;
        return (old === undefined || (object.largestVolume ?? -1) > before) && requestsClass(pod, object.group);
      }
      default:
        return true;
    }
  };

  const hint = (pod: Pod, event: ClusterEvent): boolean => !('object' in event) || isAbout(pod, event);

  /**
   * The deleted pod may not have been bound yet, so its assumed volumes are free again. Its claims may be gone or bound to other volumes by
   * now, so the hint ignores them.
   */
  const afterPod = (pod: Pod, event: ClusterEvent): boolean => {
    if (event.resource !== 'AssignedPod' || event.pod.phase !== 'Pending') return false;
    return claimVolumesOf(event.pod).length > 0 && claimVolumesOf(pod).length > 0;
  };

  return [
    { resource: 'StorageClass', actions: ['Add', 'Update'], hint },
    { resource: 'PersistentVolumeClaim', actions: ['Add', 'Update'], hint },
    { resource: 'PersistentVolume', actions: ['Add', 'Update', 'Delete'], hint },
    { resource: 'CSINode', actions: ['Add', 'Update'], hint },
    { resource: 'CSIDriver', actions: ['Update', 'Delete'], hint },
    { resource: 'CSIStorageCapacity', actions: ['Add', 'Update'], hint },
    { resource: 'Node', actions: ['Add', 'Update'], hint: afterNode },
    { resource: 'AssignedPod', actions: ['Delete'], hint: afterPod },
  ];
}

function afterNode(_pod: Pod, event: ClusterEvent): boolean {
  return event.resource !== 'Node' || event.action !== 'Update' || !sameLabels(event.old!.labels, event.new.labels);
}
