import type { WorkloadController } from './workload-controller.ts';
import { endedAt, hasEnded, isActive, isDeleting, isReady, templateHash } from './workload.ts';
import type { Workload, WorkloadPod } from './workload.ts';

type StatefulSet = Workload<
  {
    readonly replicas: number;
    readonly serviceName?: string;
    readonly podManagementPolicy?: string;
    readonly updateStrategy?: { readonly type?: string };
    readonly ordinals?: { readonly start?: number };
  },
  { readonly currentRevision?: string }
>;

const revisionLabel = 'controller-revision-hash';
/** Pods that ended are replaced so long after their end, so that pods that fail at once cause no busy loop. */
const replaceAfterMs = 10_000;

/**
 * Keeps the pods `name-0` to `name-n` of a StatefulSet. With podManagementPolicy OrderedReady one pod after the other is created, replaced and deleted, each
 * when those before it are ready; with Parallel all at once. A changed template replaces the pods from the last to the first.
 */
export const statefulSetController: WorkloadController = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  reportingController: 'statefulset-controller',

  async reconcile(workload, path, actions) {
    const set = workload as StatefulSet;
    const { metadata, spec } = set;
    const isParallel = spec.podManagementPolicy === 'Parallel';
    const revision = `${metadata.name}-${templateHash(spec.template)}`;
    const pods = await actions.ownedPods(set);
    await actions.writeStatus(path, set, statusOf(set, revision, pods));
    if (isDeleting(set)) return undefined;

    const first = spec.ordinals?.start ?? 0;
    const wanted = Array.from({ length: spec.replicas }, (_, index) => `${metadata.name}-${first + index}`);
    /** pod name -> the pod */
    const byName = new Map(pods.map((pod) => [pod.metadata.name, pod]));
    // In order, the first pod that is missing, leaving or not ready holds up those after it.
    const firstUnready = wanted.findIndex((name) => !isReadyPod(byName.get(name)));
    const reach = isParallel || firstUnready < 0 ? wanted : wanted.slice(0, firstUnready + 1);
    const missing = reach.filter((name) => !byName.has(name));
    await actions.createPods(
      set,
      missing.map((name) => podOf(set, name, revision)),
    );

    const ended = reach.flatMap((name) => byName.get(name) ?? []).filter((pod) => hasEnded(pod) && !isDeleting(pod));
    const waits = ended.map((pod) => endedAt(pod) + replaceAfterMs - actions.nowMs);
    await actions.deletePods(
      set,
      ended.filter((_, index) => waits[index]! <= 0),
    );

    const surplus = pods.filter(({ metadata: { name } }) => !wanted.includes(name));
    const outdated = spec.updateStrategy?.type === 'OnDelete' ? [] : pods.filter((pod) => !isOf(pod, revision));
    const leaving = [...surplus.sort(lastFirst), ...outdated.filter((pod) => !surplus.includes(pod)).sort(lastFirst)];
    // The outdated ones need not be ready: what is wrong with the old template may be why it was changed.
    const mayReplace = missing.length === 0 && pods.every((pod) => !isOf(pod, revision) || isReady(pod));
    const next = isParallel ? leaving : leaving.slice(0, surplus.length > 0 ? 1 : Number(mayReplace));
    if (isParallel || !pods.some(isDeleting))
      await actions.deletePods(
        set,
        next.filter((pod) => !isDeleting(pod)),
      );
    const later = waits.filter((ms) => ms > 0);
    return later.length > 0 ? { afterMs: Math.min(...later) } : undefined;
  },
};

function isReadyPod(pod: WorkloadPod | undefined): boolean {
  return pod !== undefined && isReady(pod);
}

function isOf({ metadata }: WorkloadPod, revision: string): boolean {
  return metadata.labels?.[revisionLabel] === revision;
}

function ordinalOf({ metadata }: WorkloadPod): number {
  return Number(/-(\d+)$/.exec(metadata.name)?.[1] ?? 0);
}

function lastFirst(a: WorkloadPod, b: WorkloadPod): number {
  return ordinalOf(b) - ordinalOf(a);
}

function podOf({ spec: { template, serviceName } }: StatefulSet, name: string, revision: string): object {
  const { metadata = {}, spec } = template;
  const labels = {
    ...metadata.labels,
    [revisionLabel]: revision,
    'apps.kubernetes.io/pod-index': /\d+$/.exec(name)![0],
    'statefulset.kubernetes.io/pod-name': name,
  };
  return { metadata: { ...metadata, name, labels }, spec: { ...spec, hostname: name, subdomain: serviceName } };
}

function statusOf({ metadata, status }: StatefulSet, revision: string, pods: readonly WorkloadPod[]): object {
  const ready = pods.filter(isReady).length;
  const updated = pods.filter((pod) => isOf(pod, revision)).length;
  const isUpdated = updated === pods.length;
  const currentRevision = isUpdated ? revision : (status?.currentRevision ?? revision);
  return {
    observedGeneration: metadata.generation,
    replicas: pods.filter((pod) => isActive(pod) || isDeleting(pod)).length,
    readyReplicas: ready,
    availableReplicas: ready,
    currentReplicas: pods.filter((pod) => isOf(pod, currentRevision)).length,
    updatedReplicas: updated,
    currentRevision,
    updateRevision: revision,
    collisionCount: 0,
  };
}
