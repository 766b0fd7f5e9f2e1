import type { Labels, LabelSelector } from './label-selector.ts';
import { noLabels } from './listed-metadata.ts';
import type { ListedMetadata } from './listed-metadata.ts';
import type { SelectingController } from './pod.ts';

/** A namespace, or what selects pods. */
export type SelectingKind = 'Namespace' | 'Service' | SelectingController;

/** All that is kept of one of them. */
export interface SelectingObject<Kind extends SelectingKind = SelectingKind> {
  readonly kind: Kind;
  /** Empty for a Namespace. */
  readonly namespace: string;
  readonly name: string;
  /** Of a Namespace; of the others none. */
  readonly labels: Labels;
  /** Which pods it selects; undefined: none that could be told by labels. */
  readonly selector: LabelSelector | undefined;
}

interface RawSelecting {
  readonly metadata: ListedMetadata;
  readonly spec?: { readonly selector?: unknown };
}

/** A reader of one of these kinds. */
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

/** Services and ReplicationControllers have a map, the newer kinds a selector. */
function selectorOf(kind: SelectingKind, selector: unknown): LabelSelector | undefined {
  if (typeof selector !== 'object' || selector === null) return undefined;
  return kind === 'Service' || kind === 'ReplicationController' ? { matchLabels: selector as Labels } : selector;
}
