import type { ListedMetadata } from './listed-metadata.ts';

/** Projection of a storage.k8s.io/v1 CSINode, which has the name of its node. */
export interface CsiNode {
  readonly kind: 'CSINode';
  readonly namespace: '';
  readonly name: string;
  /** driver -> maximum number of its volumes on the node; undefined: no limit */
  readonly drivers: Readonly<Record<string, number | undefined>>;
  /** Comma-separated in-tree plugins that CSI drivers replace on the node, from its annotation. */
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
