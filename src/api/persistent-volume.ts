import { inTreeVolumeOf } from './in-tree-volume.ts';
import type { CsiVolume, InTreeVolume, RawInTreeVolume } from './in-tree-volume.ts';
import type { Labels } from './label-selector.ts';
import { classAnnotation, noLabels } from './listed-metadata.ts';
import type { ListedMetadata } from './listed-metadata.ts';
import type { NodeSelectorTerm } from './node-selector.ts';
import type { PersistentVolumeClaim } from './persistent-volume-claim.ts';
import { storageSize } from './storage-size.ts';

/** The claim that a volume is bound to or reserved for. */
export interface ClaimReference {
  readonly namespace: string;
  readonly name: string;
  /** Empty: any claim with the name. */
  readonly uid: string;
}

/** Projection of a v1 PersistentVolume. */
export interface PersistentVolume {
  readonly kind: 'PersistentVolume';
  readonly namespace: '';
  readonly name: string;
  readonly resourceVersion: string;
  /** Its StorageClass. Empty: none. */
  readonly group: string;
  /** StorageClass in its spec, which an annotation can override. */
  readonly statedClass: string;
  readonly labels: Labels;
  /** Bytes. */
  readonly capacity: number;
  readonly accessModes: readonly string[];
  readonly volumeMode: string;
  readonly attributesClass: string;
  /** Nodes that can reach it. Undefined: all. */
  readonly nodeAffinity: readonly NodeSelectorTerm[] | undefined;
  readonly claim: ClaimReference | undefined;
  /** Whether its phase is Available. */
  readonly isAvailable: boolean;
  readonly deleting: boolean;
  readonly csi: CsiVolume | undefined;
  readonly inTree: InTreeVolume | undefined;
}

interface RawPersistentVolume {
  readonly metadata: ListedMetadata;
  readonly spec?: RawInTreeVolume & {
    readonly capacity?: { readonly storage?: string | number };
    readonly accessModes?: readonly string[];
    readonly storageClassName?: string;
    readonly volumeMode?: string;
    readonly volumeAttributesClassName?: string;
    readonly nodeAffinity?: { readonly required?: { readonly nodeSelectorTerms?: readonly NodeSelectorTerm[] } };
    readonly claimRef?: { readonly namespace?: string; readonly name?: string; readonly uid?: string };
    readonly csi?: { readonly driver?: string; readonly volumeHandle?: string };
  };
  readonly status?: { readonly phase?: string };
}

/** Throws QuantityError, or TypeError with the field. */
export function projectPersistentVolume(input: unknown): PersistentVolume {
  const { metadata, spec = {}, status } = input as RawPersistentVolume;
  const { claimRef, csi } = spec;
  const labels = metadata.labels ?? noLabels;
  const required = spec.nodeAffinity?.required;
  return {
    kind: 'PersistentVolume',
    namespace: '',
    name: metadata.name,
    resourceVersion: metadata.resourceVersion ?? '',
    group: metadata.annotations?.[classAnnotation] ?? spec.storageClassName ?? '',
    statedClass: spec.storageClassName ?? '',
    labels,
    capacity: storageSize(spec.capacity?.storage) ?? 0,
    accessModes: spec.accessModes ?? [],
    volumeMode: spec.volumeMode ?? 'Filesystem',
    attributesClass: spec.volumeAttributesClassName ?? '',
    nodeAffinity: required && (required.nodeSelectorTerms ?? []),
    claim: claimRef && {
      namespace: claimRef.namespace ?? '',
      name: claimRef.name ?? '',
      uid: claimRef.uid ?? '',
    },
    isAvailable: status?.phase === 'Available',
    deleting: metadata.deletionTimestamp !== undefined,
    csi: csi && { driver: csi.driver ?? '', handle: csi.volumeHandle ?? '' },
    inTree: inTreeVolumeOf(spec, labels),
  };
}

/** Returns whether the volume is bound to the claim or reserved for it. */
export function isVolumeOf({ claim }: PersistentVolume, { namespace, name, uid }: PersistentVolumeClaim): boolean {
  return claim?.namespace === namespace && claim.name === name && (claim.uid === '' || claim.uid === uid);
}
