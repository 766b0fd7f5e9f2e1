import type { ListedMetadata } from './listed-metadata.ts';

/** Projection of a storage.k8s.io/v1 CSIDriver. */
export interface CsiDriver {
  readonly kind: 'CSIDriver';
  readonly namespace: '';
  readonly name: string;
  /** Whether the driver publishes its free capacity in CSIStorageCapacities. */
  readonly publishesCapacity: boolean;
  /** Whether pods with its volumes must not run on nodes without the driver. */
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
