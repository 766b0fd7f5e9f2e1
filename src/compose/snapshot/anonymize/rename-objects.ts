import type { ListedObject } from '../../../api/listed-object.ts';
import type { CsiVolume, InTreeVolume } from '../../../api/in-tree-volume.ts';
import type { Disk, PodVolume } from '../../../api/pod-volume.ts';
import type { LabelRenaming } from './rename-labels.ts';
import type { Rename } from './renaming.ts';

/** Renames what an object of another kind names. */
export function renameObject(object: ListedObject, rename: Rename, labels: LabelRenaming): ListedObject {
  const namespace = rename('namespace', object.namespace);
  switch (object.kind) {
    case 'Namespace':
      return { ...object, name: rename('namespace', object.name), labels: labels.labels(object.labels) };
    case 'Service':
    case 'ReplicationController':
    case 'ReplicaSet':
    case 'StatefulSet':
      return {
        ...object,
        namespace,
        name: rename('workload', object.name),
        labels: labels.labels(object.labels),
        selector: object.selector && labels.selector(object.selector),
      };
    case 'PodDisruptionBudget':
      return {
        ...object,
        namespace,
        name: rename('workload', object.name),
        selector: object.selector && labels.selector(object.selector),
        disruptedPods: object.disruptedPods.map((name) => rename('pod', name)),
      };
    case 'Job':
      return {
        ...object,
        namespace,
        name: rename('workload', object.name),
        uid: rename('uid', object.uid),
        cronJob: object.cronJob === undefined ? undefined : rename('workload', object.cronJob),
      };
    case 'PersistentVolume':
      return {
        ...object,
        name: rename('volume', object.name),
        resourceVersion: '0',
        group: rename('class', object.group),
        statedClass: rename('class', object.statedClass),
        labels: labels.labels(object.labels),
        attributesClass: rename('class', object.attributesClass),
        nodeAffinity: object.nodeAffinity?.map((term) => labels.nodeTerm(term)),
        claim: object.claim && {
          namespace: rename('namespace', object.claim.namespace),
          name: rename('claim', object.claim.name),
          uid: rename('uid', object.claim.uid),
        },
        csi: object.csi && renameCsi(object.csi, rename),
        inTree: object.inTree && renameInTree(object.inTree, rename),
      };
    case 'PersistentVolumeClaim':
      return {
        ...object,
        namespace,
        name: rename('claim', object.name),
        uid: rename('uid', object.uid),
        resourceVersion: '0',
        className: rename('class', object.className),
        statedClass: rename('class', object.statedClass),
        volumeName: rename('volume', object.volumeName),
        selectedNode: object.selectedNode === undefined ? undefined : rename('node', object.selectedNode),
        selector: object.selector && labels.selector(object.selector),
        attributesClass: rename('class', object.attributesClass),
        ownerUid: object.ownerUid === undefined ? undefined : rename('uid', object.ownerUid),
      };
    case 'StorageClass':
      return {
        ...object,
        name: rename('class', object.name),
        provisioner: rename('driver', object.provisioner),
        allowedTopologies: object.allowedTopologies.map(({ matchLabelExpressions }) => ({
          ...(matchLabelExpressions !== undefined && {
            matchLabelExpressions: matchLabelExpressions.map(({ key, values }) => ({
              key: labels.key(key),
              values: values.map((value) => labels.value(key, value)),
            })),
          }),
        })),
      };
    case 'CSINode':
      return {
        ...object,
        name: rename('node', object.name),
        drivers: Object.fromEntries(
          Object.entries(object.drivers).map(([driver, limit]) => [rename('driver', driver), limit]),
        ),
        migratedPlugins: object.migratedPlugins
          .split(',')
          .map((plugin) => rename('driver', plugin))
          .join(','),
      };
    case 'CSIDriver':
      return { ...object, name: rename('driver', object.name) };
    case 'CSIStorageCapacity':
      return {
        ...object,
        namespace,
        name: rename('workload', object.name),
        group: rename('class', object.group),
        nodeTopology: object.nodeTopology && labels.selector(object.nodeTopology),
      };
    case 'VolumeAttachment':
      return {
        ...object,
        name: rename('workload', object.name),
        group: rename('node', object.group),
        attacher: rename('driver', object.attacher),
        volumeName: rename('volume', object.volumeName),
      };
  }
}

/** Renames what a volume of a pod names. */
export function renameVolume(volume: PodVolume, rename: Rename): PodVolume {
  if (volume.type === 'claim') return { ...volume, claimName: rename('claim', volume.claimName) };
  return {
    type: 'inline',
    name: rename('other', volume.name),
    disk: volume.disk && renameDisk(volume.disk, rename),
    inTree: volume.inTree && renameInTree(volume.inTree, rename),
    csiDriver: volume.csiDriver === undefined ? undefined : rename('driver', volume.csiDriver),
  };
}

function renameDisk(disk: Disk, rename: Rename): Disk {
  if (disk.system !== 'rbd') return { ...disk, id: rename('other', disk.id) };
  return {
    ...disk,
    monitors: disk.monitors.map((monitor) => rename('other', monitor)),
    pool: rename('other', disk.pool),
    image: rename('other', disk.image),
  };
}

function renameCsi({ driver, handle }: CsiVolume, rename: Rename): CsiVolume {
  return { driver: rename('driver', driver), handle: rename('other', handle) };
}

function renameInTree({ plugin, migrated }: InTreeVolume, rename: Rename): InTreeVolume {
  return {
    plugin: rename('driver', plugin),
    migrated: migrated && ('problem' in migrated ? { problem: 'unknown' } : renameCsi(migrated, rename)),
  };
}
