import type { ListedMetadata } from './listed-metadata.ts';

/** All that is read of a storage.k8s.io/v1 CSIDriver. */
export interface CsiDriver {
  readonly kind: 'CSIDriver';
  readonly namespace: '';
  readonly name: string;
  /** It publishes what room for volumes there is, in CSIStorageCapacities. */
  readonly publishesCapacity: boolean;
  /** Pods that use its volumes are not to go to nodes that do not have it. */
  readonly isRequired: boolean;
}

interface RawCsiDriver {
  readonly metadata: ListedMetadata;
  readonly spec?: { readonly storageCapacity?: boolean; readonly preventPodSchedulingIfMissing?: boolean };
}

export function projectCsiDriver(input: unknown): CsiDriver {
  const { metadata, spec } = input as RawCsiDriver;
  return {
    kind: 'CSIDriver',
    namespace: '',
    name: metadata.name,
    publishesCapacity: spec?.storageCapacity === true,
    isRequired: spec?.preventPodSchedulingIfMissing === true,
  };
}
