import type { LabelSelector } from './label-selector.ts';
import { classAnnotation } from './listed-metadata.ts';
import type { ListedMetadata } from './listed-metadata.ts';
import { storageSize } from './storage-size.ts';

/** All that is read of a v1 PersistentVolumeClaim. */
export interface PersistentVolumeClaim {
  readonly kind: 'PersistentVolumeClaim';
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The class of volumes that it asks for; empty: of none. */
  readonly className: string;
  /** The volume that it is bound to, or to be bound to; empty: none yet. */
  readonly volumeName: string;
  /** It and its volume name each other. */
  readonly isBound: boolean;
  /** Where its volume is to be made, once a pod has been placed; undefined: nobody has said. */
  readonly selectedNode: string | undefined;
  /** In bytes; undefined: any size. */
  readonly requested: number | undefined;
  readonly accessModes: readonly string[];
  readonly selector: LabelSelector | undefined;
  readonly volumeMode: string;
  readonly attributesClass: string;
  /** Its volume is gone. */
  readonly isLost: boolean;
  readonly deleting: boolean;
  /** uid of the controller that owns it: of the pod, where it was made for one volume of that. */
  readonly ownerUid: string | undefined;
}

/** Where the scheduler says on which node a claim's volume is wanted. A provisioner that fails takes it away. */
export const selectedNodeAnnotation = 'volume.kubernetes.io/selected-node';
export const bindCompletedAnnotation = 'pv.kubernetes.io/bind-completed';
/** On volumes and claims that whoever bound them chose, not the user. */
export const boundByControllerAnnotation = 'pv.kubernetes.io/bound-by-controller';

interface RawPersistentVolumeClaim {
  readonly metadata: ListedMetadata;
  readonly spec?: {
    readonly storageClassName?: string;
    readonly volumeName?: string;
    readonly accessModes?: readonly string[];
    readonly selector?: LabelSelector;
    readonly resources?: { readonly requests?: { readonly storage?: string | number } };
    readonly volumeMode?: string;
    readonly volumeAttributesClassName?: string;
  };
  readonly status?: { readonly phase?: string };
}

/** Throws QuantityError, or a TypeError that names the field. */
export function projectPersistentVolumeClaim(input: unknown): PersistentVolumeClaim {
  const { metadata, spec = {}, status } = input as RawPersistentVolumeClaim;
  const { annotations = {} } = metadata;
  const volumeName = spec.volumeName ?? '';
  return {
    kind: 'PersistentVolumeClaim',
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    className: annotations[classAnnotation] ?? spec.storageClassName ?? '',
    volumeName,
    isBound: volumeName !== '' && annotations[bindCompletedAnnotation] !== undefined,
    selectedNode: annotations[selectedNodeAnnotation],
    requested: storageSize(spec.resources?.requests?.storage),
    accessModes: spec.accessModes ?? [],
    selector: spec.selector,
    volumeMode: spec.volumeMode ?? 'Filesystem',
    attributesClass: spec.volumeAttributesClassName ?? '',
    isLost: status?.phase === 'Lost',
    deleting: metadata.deletionTimestamp !== undefined,
    ownerUid: metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid,
  };
}
