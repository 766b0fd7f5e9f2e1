import type { Labels, LabelSelector } from './label-selector.ts';
import { sameLabels } from './same-labels.ts';
import type { SelectingController } from './pod.ts';

/** Kinds besides nodes, pods and groups that some plugin may read. */
export type ListedKind = 'Namespace' | 'Service' | SelectingController;

/** All that is kept of one of them. */
export interface ListedObject {
  readonly kind: ListedKind;
  /** Empty for a Namespace. */
  readonly namespace: string;
  readonly name: string;
  /** Of a Namespace; of the others none. */
  readonly labels: Labels;
  /** Which pods it selects; undefined: none that could be told by labels. */
  readonly selector: LabelSelector | undefined;
}

/** kind -> where the API server lists them */
export const listedPaths: Readonly<Record<ListedKind, string>> = {
  Namespace: '/api/v1/namespaces',
  Service: '/api/v1/services',
  ReplicationController: '/api/v1/replicationcontrollers',
  ReplicaSet: '/apis/apps/v1/replicasets',
  StatefulSet: '/apis/apps/v1/statefulsets',
};

export const listedKinds = Object.keys(listedPaths) as readonly ListedKind[];

const noLabels: Labels = Object.freeze({});

interface RawListed {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Labels;
  };
  readonly spec?: { readonly selector?: unknown };
}

/** Throws a TypeError for what is no such object; the message names the field. */
export function projectListed(kind: ListedKind, input: unknown): ListedObject {
  const { metadata, spec } = input as RawListed;
  if (typeof metadata.name !== 'string') throw new TypeError('metadata.name is not a string');
  const isNamespace = kind === 'Namespace';
  return {
    kind,
    namespace: isNamespace ? '' : (metadata.namespace ?? ''),
    name: metadata.name,
    labels: isNamespace ? (metadata.labels ?? noLabels) : noLabels,
    selector: isNamespace ? undefined : selectorOf(kind, spec?.selector),
  };
}

/** Services and ReplicationControllers have a map, the newer kinds a selector. */
function selectorOf(kind: ListedKind, selector: unknown): LabelSelector | undefined {
  if (typeof selector !== 'object' || selector === null) return undefined;
  return kind === 'Service' || kind === 'ReplicationController' ? { matchLabels: selector as Labels } : selector;
}

/** Whether nothing that is read of it differs. */
export function listedAlike(a: ListedObject, b: ListedObject): boolean {
  return sameLabels(a.labels, b.labels) && JSON.stringify(a.selector) === JSON.stringify(b.selector);
}
