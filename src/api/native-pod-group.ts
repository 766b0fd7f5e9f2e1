import { safeName } from '../base/safe-text.ts';
import type { Condition } from './condition.ts';
import { groupKeyOf } from './group-key.ts';
import { MalformedObjectError } from './malformed-object-error.ts';

/** API group of Kubernetes' own PodGroups. */
export const nativeGroup = 'scheduling.k8s.io';
/** The versions of that API with PodGroups that Tutti reads, the preferred one first. Their PodGroups have the same fields for Tutti. */
export const nativeVersions = ['v1beta1', 'v1alpha3', 'v1alpha2'] as const;
export type NativeVersion = (typeof nativeVersions)[number];

/** Type of the only condition of these PodGroups that Tutti writes. It stays True once it is. */
export const initiallyScheduled = 'PodGroupInitiallyScheduled';

/** Returns the API path of all PodGroups, of a namespace's, or of one. Escapes the parts. */
export function nativePodGroupPath(version: NativeVersion, namespace?: string, name?: string): string {
  const base = `/apis/${nativeGroup}/${version}`;
  if (namespace === undefined) return `${base}/podgroups`;
  const collection = `${base}/namespaces/${encodeURIComponent(namespace)}/podgroups`;
  return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`;
}

/** Tutti's projection of a `scheduling.k8s.io` PodGroup. */
export interface NativePodGroup {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** See `groupKeyOf`. */
  readonly key: string;
  readonly resourceVersion: string;
  readonly generation: number;
  /** Milliseconds since the epoch. */
  readonly creationTimestamp: number;
  /** Of the policy `gang`; undefined: the policy is `basic`. */
  readonly minCount: number | undefined;
  /** Key of the topology constraint. */
  readonly topologyKey: string | undefined;
  /** Whether the members share ResourceClaims. */
  readonly hasResourceClaims: boolean;
  readonly parentName: string | undefined;
  /** All members are disrupted together. */
  readonly disruptsAll: boolean;
  /** The API server resolves its class. */
  readonly priority: number;
  readonly preemptionPolicy: 'PreemptLowerPriority' | 'Never' | undefined;
  /** The condition PodGroupInitiallyScheduled. */
  readonly scheduled: Condition | undefined;
}

interface RawNativePodGroup {
  readonly metadata: {
    readonly uid: string;
    readonly namespace: string;
    readonly name: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly creationTimestamp?: string;
  };
  readonly spec?: {
    readonly schedulingPolicy?: { readonly basic?: object; readonly gang?: { readonly minCount?: unknown } };
    readonly schedulingConstraints?: {
      readonly topology?: readonly { readonly key?: string; readonly level?: string }[] | null;
    };
    readonly resourceClaims?: readonly unknown[] | null;
    readonly parentCompositePodGroupName?: string;
    /** `PodGroup` or `Pod` in v1alpha2. */
    readonly disruptionMode?: string | { readonly all?: object; readonly single?: object };
    readonly priority?: number;
    readonly preemptionPolicy?: string;
  };
  readonly status?: { readonly conditions?: readonly Condition[] | null };
}

/** Projects a PodGroup of any version in `nativeVersions`. Throws MalformedObjectError, which names the invalid field. */
export function projectNativePodGroup(input: unknown): NativePodGroup {
  const { metadata, spec, status } = (input ?? {}) as RawNativePodGroup;
  const fail = (path: string, problem: string): never => {
    throw new MalformedObjectError('PodGroup', `${metadata?.namespace}/${metadata?.name}`, path, problem);
  };
  for (const field of ['uid', 'namespace', 'name', 'resourceVersion'] as const) {
    if (typeof metadata?.[field] !== 'string') fail(`metadata.${field}`, 'must be a string');
  }
  const { basic, gang } = spec?.schedulingPolicy ?? {};
  if (basic === undefined && gang === undefined) fail('spec.schedulingPolicy', 'must be basic or gang');
  const minCount = gang?.minCount;
  if (gang !== undefined && !(Number.isInteger(minCount) && (minCount as number) > 0)) {
    fail(
      'spec.schedulingPolicy.gang.minCount',
      `must be a whole number of at least 1, not ${JSON.stringify(minCount)}`,
    );
  }
  const constraints: unknown = spec?.schedulingConstraints?.topology ?? [];
  if (!Array.isArray(constraints)) fail('spec.schedulingConstraints.topology', 'must be a list');
  const [topology] = constraints as readonly ({ readonly key?: unknown; readonly level?: unknown } | null)[];
  const topologyKey = topology === undefined ? undefined : (topology?.key ?? topology?.level ?? '');
  const { disruptionMode, preemptionPolicy, parentCompositePodGroupName: parent, priority = 0 } = spec ?? {};
  const name = (value: unknown, path: string): string | undefined => {
    if (value === undefined || value === null) return undefined;
    return typeof value === 'string' ? safeName(value) : fail(path, 'must be a string');
  };
  if (!Number.isInteger(priority)) fail('spec.priority', `must be a whole number, not ${JSON.stringify(priority)}`);
  const { uid, namespace, resourceVersion, generation = 0, creationTimestamp } = metadata;
  return {
    ...{ uid, namespace, name: metadata.name, resourceVersion, generation },
    key: groupKeyOf(nativeGroup, namespace, metadata.name),
    creationTimestamp: creationTimestamp === undefined ? 0 : Date.parse(creationTimestamp),
    minCount: gang === undefined ? undefined : (minCount as number),
    topologyKey: name(topologyKey, 'spec.schedulingConstraints.topology'),
    hasResourceClaims: (spec?.resourceClaims?.length ?? 0) > 0,
    parentName: name(parent, 'spec.parentCompositePodGroupName'),
    disruptsAll:
      typeof disruptionMode === 'string' ? disruptionMode === 'PodGroup' : (disruptionMode?.all ?? null) !== null,
    priority,
    preemptionPolicy:
      preemptionPolicy === 'Never' || preemptionPolicy === 'PreemptLowerPriority' ? preemptionPolicy : undefined,
    scheduled: scheduledCondition(status?.conditions),
  };
}

function scheduledCondition(conditions: unknown): Condition | undefined {
  if (!Array.isArray(conditions)) return undefined;
  const list = conditions as readonly (Condition | null)[];
  return list.find((each) => each?.type === initiallyScheduled) ?? undefined;
}
