import type { Labels, LabelSelector } from './label-selector.ts';
import { noLabels } from './listed-metadata.ts';
import type { ListedMetadata } from './listed-metadata.ts';
import type { SelectingController } from './pod.ts';

/** Namespaces and kinds that select pods. */
export type SelectingKind = 'Namespace' | 'Service' | SelectingController;

/** Projection of one of these kinds. */
export interface SelectingObject<Kind extends SelectingKind = SelectingKind> {
  readonly kind: Kind;
  /** Empty for a Namespace. */
  readonly namespace: string;
  readonly name: string;
  /** Labels of a Namespace. Empty for other kinds. */
  readonly labels: Labels;
  /** Selects its pods. Undefined: no label selector. */
  readonly selector: LabelSelector | undefined;
}

interface RawSelecting {
  readonly metadata: ListedMetadata;
  readonly spec?: { readonly selector?: unknown };
}

/** Returns the projection function of a kind. */
export function selectingProjector<Kind extends SelectingKind>(kind: Kind): (input: unknown) => SelectingObject<Kind> {
  const isNamespace = kind === 'Namespace';
  return (input) => {
    const { metadata, spec } = input as RawSelecting;
    return {
      kind,
      namespace: isNamespace ? '' : (metadata.namespace ?? ''),
      name: metadata.name,
      labels: isNamespace ? (metadata.labels ?? noLabels) : noLabels,
      selector: isNamespace ? undefined : selectorOf(kind, spec?.selector),
    };
  };
}

/** Returns the selector. Services and ReplicationControllers have a label map, the newer kinds a selector object. */
function selectorOf(kind: SelectingKind, selector: unknown): LabelSelector | undefined {
  if (typeof selector !== 'object' || selector === null) return undefined;
  return kind === 'Service' || kind === 'ReplicationController' ? { matchLabels: selector as Labels } : selector;
}
