import { projectCsiDriver } from './csi-driver.ts';
import type { CsiDriver } from './csi-driver.ts';
import { projectCsiNode } from './csi-node.ts';
import type { CsiNode } from './csi-node.ts';
import { projectCsiStorageCapacity } from './csi-storage-capacity.ts';
import type { CsiStorageCapacity } from './csi-storage-capacity.ts';
import { projectJob } from './job.ts';
import type { Job } from './job.ts';
import type { ListedMetadata } from './listed-metadata.ts';
import { projectPersistentVolumeClaim } from './persistent-volume-claim.ts';
import type { PersistentVolumeClaim } from './persistent-volume-claim.ts';
import { projectPersistentVolume } from './persistent-volume.ts';
import type { PersistentVolume } from './persistent-volume.ts';
import { projectPodDisruptionBudget } from './pod-disruption-budget.ts';
import type { PodDisruptionBudget } from './pod-disruption-budget.ts';
import { selectingProjector } from './selecting-object.ts';
import type { SelectingKind, SelectingObject } from './selecting-object.ts';
import { projectStorageClass } from './storage-class.ts';
import type { StorageClass } from './storage-class.ts';
import { projectVolumeAttachment } from './volume-attachment.ts';
import type { VolumeAttachment } from './volume-attachment.ts';

/** kind -> its projection, for kinds other than nodes, pods and groups that plugins or reservations read */
export type ListedKinds = { readonly [Kind in SelectingKind]: SelectingObject<Kind> } & {
  readonly PersistentVolume: PersistentVolume;
  readonly PersistentVolumeClaim: PersistentVolumeClaim;
  readonly StorageClass: StorageClass;
  readonly CSINode: CsiNode;
  readonly CSIDriver: CsiDriver;
  readonly CSIStorageCapacity: CsiStorageCapacity;
  readonly VolumeAttachment: VolumeAttachment;
  readonly PodDisruptionBudget: PodDisruptionBudget;
  readonly Job: Job;
};

export type ListedKind = keyof ListedKinds;

/** A projection of one of these kinds. `group` is the key by which objects of some kinds are looked up together. */
export type ListedObject = ListedKinds[ListedKind];

interface Listing<Kind extends ListedKind> {
  /** API path of the list. */
  readonly path: string;
  readonly project: (input: unknown) => ListedKinds[Kind];
}

const listings: { readonly [Kind in ListedKind]: Listing<Kind> } = {
  Namespace: { path: '/api/v1/namespaces', project: selectingProjector('Namespace') },
  Service: { path: '/api/v1/services', project: selectingProjector('Service') },
  ReplicationController: {
    path: '/api/v1/replicationcontrollers',
    project: selectingProjector('ReplicationController'),
  },
  ReplicaSet: { path: '/apis/apps/v1/replicasets', project: selectingProjector('ReplicaSet') },
  StatefulSet: { path: '/apis/apps/v1/statefulsets', project: selectingProjector('StatefulSet') },
  PersistentVolume: { path: '/api/v1/persistentvolumes', project: projectPersistentVolume },
  PersistentVolumeClaim: { path: '/api/v1/persistentvolumeclaims', project: projectPersistentVolumeClaim },
  StorageClass: { path: '/apis/storage.k8s.io/v1/storageclasses', project: projectStorageClass },
  CSINode: { path: '/apis/storage.k8s.io/v1/csinodes', project: projectCsiNode },
  CSIDriver: { path: '/apis/storage.k8s.io/v1/csidrivers', project: projectCsiDriver },
  CSIStorageCapacity: { path: '/apis/storage.k8s.io/v1/csistoragecapacities', project: projectCsiStorageCapacity },
  VolumeAttachment: { path: '/apis/storage.k8s.io/v1/volumeattachments', project: projectVolumeAttachment },
  PodDisruptionBudget: { path: '/apis/policy/v1/poddisruptionbudgets', project: projectPodDisruptionBudget },
  Job: { path: '/apis/batch/v1/jobs', project: projectJob },
};

export const listedKinds = Object.keys(listings) as readonly ListedKind[];

/** Returns the API path that lists objects of the kind: all of them, or those of a namespace. */
export function listedPath(kind: ListedKind, namespace?: string): string {
  const { path } = listings[kind];
  if (namespace === undefined) return path;
  const end = path.lastIndexOf('/');
  return `${path.slice(0, end)}/namespaces/${encodeURIComponent(namespace)}${path.slice(end)}`;
}

/** Projects an object of the kind. Throws TypeError or QuantityError if it is malformed; the message names the field. */
export function projectListed<Kind extends ListedKind>(kind: Kind, input: unknown): ListedKinds[Kind] {
  const { metadata } = input as { readonly metadata: ListedMetadata };
  if (typeof metadata.name !== 'string') throw new TypeError('metadata.name is not a string');
  return (listings[kind] as Listing<Kind>).project(input);
}

/** Returns whether two projections are equal. */
export function listedAlike(a: ListedObject, b: ListedObject): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
