import type { ListedMetadata } from './listed-metadata.ts';

/** All that is read of a storage.k8s.io/v1 CSINode, which has the name of its node. */
export interface CsiNode {
  readonly kind: 'CSINode';
  readonly namespace: '';
  readonly name: string;
  /** driver -> how many of its volumes the node can have; undefined: any number */
  readonly drivers: Readonly<Record<string, number | undefined>>;
  /** In-tree plugins in whose place CSI drivers work on the node, separated by commas, as its annotation has them. */
  readonly migratedPlugins: string;
}

const migratedPluginsAnnotation = 'storage.alpha.kubernetes.io/migrated-plugins';

interface RawCsiNode {
  readonly metadata: ListedMetadata;
  readonly spec?: {
    readonly drivers?: readonly { readonly name: string; readonly allocatable?: { readonly count?: number } }[] | null;
  };
}

export function projectCsiNode(input: unknown): CsiNode {
  const { metadata, spec } = input as RawCsiNode;
  const drivers = spec?.drivers ?? [];
  return {
    kind: 'CSINode',
    namespace: '',
    name: metadata.name,
    drivers: Object.fromEntries(drivers.map(({ name, allocatable }) => [name, allocatable?.count])),
    migratedPlugins: metadata.annotations?.[migratedPluginsAnnotation] ?? '',
  };
}
