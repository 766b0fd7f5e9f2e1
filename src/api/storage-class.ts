import type { ListedMetadata } from './listed-metadata.ts';

/** Labels that a node must have, each with one of the given values. */
export interface TopologySelectorTerm {
  readonly matchLabelExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[];
}

/** Projection of a storage.k8s.io/v1 StorageClass. */
export interface StorageClass {
  readonly kind: 'StorageClass';
  readonly namespace: '';
  readonly name: string;
  readonly provisioner: string;
  /** `Immediate` or `WaitForFirstConsumer`. API servers always set it. */
  readonly bindingMode: string | undefined;
  /** Topologies in which its volumes can be provisioned. Empty: all. */
  readonly allowedTopologies: readonly TopologySelectorTerm[];
}

/** Provisioner of classes whose volumes administrators create. */
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

/** Returns whether volumes of the class are bound only when a pod that uses them is placed. */
export function waitsForConsumer({ bindingMode }: StorageClass): boolean {
  return bindingMode === 'WaitForFirstConsumer';
}
