import type { LabelSelector } from './label-selector.ts';
import type { ListedMetadata } from './listed-metadata.ts';
import { storageSize } from './storage-size.ts';

/** Projection of a storage.k8s.io/v1 CSIStorageCapacity. */
export interface CsiStorageCapacity {
  readonly kind: 'CSIStorageCapacity';
  readonly namespace: string;
  readonly name: string;
  /** Its StorageClass. */
  readonly group: string;
  /** Selects the nodes that can reach the storage. Undefined: none. */
  readonly nodeTopology: LabelSelector | undefined;
  /** Bytes; 0 if unknown. */
  readonly capacity: number;
  /** Maximum size of a new volume, in bytes. Undefined: no volume can be provisioned. */
  readonly largestVolume: number | undefined;
}

interface RawCsiStorageCapacity {
  readonly metadata: ListedMetadata;
  readonly storageClassName?: string;
  readonly nodeTopology?: LabelSelector;
  readonly capacity?: string | number;
  readonly maximumVolumeSize?: string | number;
}

/** Throws QuantityError. */
export function projectCsiStorageCapacity(input: unknown): CsiStorageCapacity {
  const raw = input as RawCsiStorageCapacity;
  const capacity = storageSize(raw.capacity);
  return {
    kind: 'CSIStorageCapacity',
    namespace: raw.metadata.namespace ?? '',
    name: raw.metadata.name,
    group: raw.storageClassName ?? '',
    nodeTopology: raw.nodeTopology,
    capacity: capacity ?? 0,
    largestVolume: storageSize(raw.maximumVolumeSize) ?? capacity,
  };
}
