import type { ListedMetadata } from './listed-metadata.ts';

/** Labels of which a node must have all, each with one of these values. */
export interface TopologySelectorTerm {
  readonly matchLabelExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[];
}

/** All that is read of a storage.k8s.io/v1 StorageClass. */
export interface StorageClass {
  readonly kind: 'StorageClass';
  readonly namespace: '';
  readonly name: string;
  readonly provisioner: string;
  /** `Immediate` or `WaitForFirstConsumer`; undefined: the API server always says. */
  readonly bindingMode: string | undefined;
  /** Where its volumes can be made; empty: everywhere. */
  readonly allowedTopologies: readonly TopologySelectorTerm[];
}

/** In place of a provisioner: volumes of the class are made by hand. */
export const noProvisioner = 'kubernetes.io/no-provisioner';

interface RawStorageClass {
  readonly metadata: ListedMetadata;
  readonly provisioner?: string;
  readonly volumeBindingMode?: string;
  readonly allowedTopologies?: readonly TopologySelectorTerm[];
}

export function projectStorageClass(input: unknown): StorageClass {
  const { metadata, provisioner, volumeBindingMode, allowedTopologies } = input as RawStorageClass;
  return {
    kind: 'StorageClass',
    namespace: '',
    name: metadata.name,
    provisioner: provisioner ?? '',
    bindingMode: volumeBindingMode,
    allowedTopologies: allowedTopologies ?? [],
  };
}

/** The class's volumes are bound once a pod that uses them has been placed. */
export function waitsForConsumer({ bindingMode }: StorageClass): boolean {
  return bindingMode === 'WaitForFirstConsumer';
}
