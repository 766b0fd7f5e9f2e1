import type { LabelSelector } from './label-selector.ts';
import type { ListedMetadata } from './listed-metadata.ts';
import { storageSize } from './storage-size.ts';

/** All that is read of a storage.k8s.io/v1 CSIStorageCapacity. */
export interface CsiStorageCapacity {
  readonly kind: 'CSIStorageCapacity';
  readonly namespace: string;
  readonly name: string;
  /** The StorageClass that it is about. */
  readonly group: string;
  /** The nodes that can reach it; undefined: none. */
  readonly nodeTopology: LabelSelector | undefined;
  /** In bytes; 0: not known. */
  readonly capacity: number;
  /** The largest volume that can be made, in bytes; undefined: none. */
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
