import type { PlannedJson, PlannedMetadata, PlannedObject, PlannedSpec } from './planned-object.ts';

/** One pod that an object of the file is or asks for. */
export interface PodSketch {
  readonly metadata: PlannedMetadata & { readonly name: string; readonly namespace: string };
  readonly spec: PlannedSpec;
}

const indexKey = 'batch.kubernetes.io/job-completion-index';

/**
 * Returns the pods of a workload as its controller would create them at once, with the names that they would have. Names that a controller
 * ends at random end with a number instead. A PodGroup has none, nor has a suspended Job. `object`: the workload, maybe with defaults.
 */
export function podsOfObject(
  { kind, name, namespace }: Pick<PlannedObject, 'kind' | 'name' | 'namespace'>,
  { metadata, spec = {} }: PlannedJson,
): readonly PodSketch[] {
  if (kind === 'PodGroup') return [];
  if (kind === 'Pod') return [{ metadata: { ...metadata, name, namespace }, spec }];
  const { template } = spec;
  const first = kind === 'StatefulSet' ? (spec.ordinals?.start ?? 0) : 0;
  const owner = {
    apiVersion: kind === 'Job' ? 'batch/v1' : 'apps/v1',
    // A Deployment creates its pods through a ReplicaSet, whose name is not known.
    kind: kind === 'Deployment' ? 'ReplicaSet' : kind,
    name,
    uid: `planned-${kind}-${name}`,
    controller: true,
  };
  return Array.from({ length: countOf(kind, spec) }, (_, index) => {
    const own = ownKeys(kind, name, first + index, spec);
    return {
      metadata: {
        name: `${name}-${first + index}`,
        namespace,
        labels: { ...template?.metadata?.labels, ...own.labels },
        annotations: { ...template?.metadata?.annotations, ...own.annotations },
        ownerReferences: [owner],
      },
      spec: template?.spec ?? {},
    };
  });
}

/** Returns how many pods `podsOfObject` returns. */
export function podCountOf({ kind }: Pick<PlannedObject, 'kind'>, { spec = {} }: PlannedJson): number {
  if (kind === 'PodGroup') return 0;
  return kind === 'Pod' ? 1 : countOf(kind, spec);
}

function countOf(kind: PlannedObject['kind'], { replicas, parallelism, completions, suspend }: PlannedSpec): number {
  if (kind !== 'Job') return replicas ?? 1;
  return suspend === true ? 0 : Math.min(parallelism ?? 1, completions ?? Infinity);
}

/** Returns what the controller adds to the metadata of each pod. */
function ownKeys(
  kind: PlannedObject['kind'],
  name: string,
  index: number,
  { completionMode }: PlannedSpec,
): { readonly labels: Readonly<Record<string, string>>; readonly annotations: Readonly<Record<string, string>> } {
  const key: Readonly<Record<string, string>> =
    completionMode === 'Indexed' && kind === 'Job' ? { [indexKey]: String(index) } : {};
  if (kind === 'Job') {
    const job = { 'batch.kubernetes.io/job-name': name, 'job-name': name };
    return { labels: { ...job, ...key }, annotations: key };
  }
  if (kind !== 'StatefulSet') return { labels: {}, annotations: {} };
  const labels = {
    'statefulset.kubernetes.io/pod-name': `${name}-${index}`,
    'apps.kubernetes.io/pod-index': String(index),
  };
  return { labels, annotations: {} };
}
