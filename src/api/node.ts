import { knownFeatures } from './node-features.ts';
import type { NodeFeature } from './node-features.ts';
import { noImages } from './node-images.ts';
import type { NodeImage, NodeImages, RawNodeImages } from './node-images.ts';
import { sameLabels } from './same-labels.ts';
import { readResources, sameResources, toResourceList } from './resource-list.ts';
import type { RawResources, ResourceList } from './resource-list.ts';
import type { ResourceNames } from './resource-names.ts';

export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

/** The scheduler's projection of a node. */
export interface Node {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly unschedulable: boolean;
  readonly allocatable: ResourceList;
  /** Declared features that a pod can require, in order. */
  readonly declaredFeatures: readonly NodeFeature[];
  /** Empty if no plugin reads images. */
  readonly images: readonly NodeImage[];
}

interface RawNode {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  };
  readonly status?: {
    readonly allocatable?: RawResources;
    readonly capacity?: RawResources;
    readonly images?: RawNodeImages | null;
    readonly declaredFeatures?: readonly string[] | null;
  };
}

/**
 * Returns whether two versions of a node are equal for scheduling. Ignores images, which affect only scores, and the fields that
 * heartbeats change.
 */
export function nodesEqualForScheduling(a: Node, b: Node): boolean {
  return (
    a.unschedulable === b.unschedulable &&
    sameResources(a.allocatable, b.allocatable) &&
    sameLabels(a.labels, b.labels) &&
    a.taints.length === b.taints.length &&
    a.taints.every((taint, i) => sameTaint(taint, b.taints[i]!)) &&
    a.declaredFeatures.length === b.declaredFeatures.length &&
    a.declaredFeatures.every((feature, i) => feature === b.declaredFeatures[i])
  );
}

function sameTaint(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.value === b.value && a.effect === b.effect;
}

/** Projects a node. Throws TypeError or QuantityError that names the malformed field. Drops images if `images` is absent. */
export function projectNode(input: unknown, names: ResourceNames, images?: NodeImages): Node {
  const { metadata, spec, status } = input as RawNode;
  for (const field of ['uid', 'name', 'resourceVersion'] as const) {
    if (typeof metadata[field] !== 'string') throw new TypeError(`metadata.${field} is not a string`);
  }
  return {
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    labels: metadata.labels ?? {},
    taints: (spec?.taints ?? []).map(({ key, value, effect }) => ({ key, value: value ?? '', effect })),
    unschedulable: spec?.unschedulable ?? false,
    allocatable: toResourceList(readResources(status?.allocatable ?? status?.capacity), names),
    declaredFeatures: knownFeatures(status?.declaredFeatures),
    images: images === undefined ? noImages : images.read(status?.images),
  };
}
