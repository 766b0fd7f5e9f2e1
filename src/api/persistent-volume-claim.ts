import { safeName } from '../base/safe-text.ts';
import type { LabelSelector } from './label-selector.ts';
import { classAnnotation } from './listed-metadata.ts';
import type { ListedMetadata } from './listed-metadata.ts';
import { storageSize } from './storage-size.ts';

/** Projection of a v1 PersistentVolumeClaim. */
export interface PersistentVolumeClaim {
  readonly kind: 'PersistentVolumeClaim';
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Its StorageClass. Empty: none. */
  readonly className: string;
  /** StorageClass in its spec, which an annotation can override. */
  readonly statedClass: string;
  /** The volume that it is or will be bound to. Empty: none yet. */
  readonly volumeName: string;
  /** Whether the claim and its volume refer to each other. */
  readonly isBound: boolean;
  /** Node for which to provision its volume, set once a pod has been placed. */
  readonly selectedNode: string | undefined;
  /** Bytes. Undefined: any size. */
  readonly requested: number | undefined;
  readonly accessModes: readonly string[];
  readonly selector: LabelSelector | undefined;
  readonly volumeMode: string;
  readonly attributesClass: string;
  /** Whether its volume is gone. */
  readonly isLost: boolean;
  readonly deleting: boolean;
  /** UID of the controller that owns it. For an ephemeral volume this is the pod. */
  readonly ownerUid: string | undefined;
}

/** The scheduler sets this annotation to the node for which a volume must be provisioned. A provisioner that fails removes it. */
export const selectedNodeAnnotation = 'volume.kubernetes.io/selected-node';
export const bindCompletedAnnotation = 'pv.kubernetes.io/bind-completed';
/** On volumes and claims that a controller or scheduler matched, not the user. */
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

/** Throws QuantityError, or TypeError with the field. */
export function projectPersistentVolumeClaim(input: unknown): PersistentVolumeClaim {
  const { metadata, spec = {}, status } = input as RawPersistentVolumeClaim;
  const { annotations = {} } = metadata;
  const selectedNode = annotations[selectedNodeAnnotation];
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  const volumeName = safeName(spec.volumeName ?? '');
  return {
    kind: 'PersistentVolumeClaim',
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    className: safeName(annotations[classAnnotation] ?? spec.storageClassName ?? ''),
    statedClass: spec.storageClassName ?? '',
    volumeName,
    isBound: volumeName !== '' && annotations[bindCompletedAnnotation] !== undefined,
    selectedNode: selectedNode === undefined ? undefined : safeName(selectedNode),
    requested: storageSize(spec.resources?.requests?.storage),
    accessModes: spec.accessModes ?? [],
    selector: spec.selector,
    volumeMode: spec.volumeMode ?? 'Filesystem',
    attributesClass: spec.volumeAttributesClassName ?? '',
    isLost: status?.phase === 'Lost',
    deleting: metadata.deletionTimestamp !== undefined,
    ownerUid: owner?.uid === undefined ? undefined : safeName(owner.uid),
  };
}
