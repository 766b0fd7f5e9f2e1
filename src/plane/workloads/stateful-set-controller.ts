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
/** Delay before a terminated pod is replaced, so that pods that fail at once do not cause a busy loop. */
const replacementDelayMs = 10_000;

/**
 * Keeps the pods `name-0` to `name-n` of a StatefulSet. With podManagementPolicy OrderedReady, it creates, replaces and deletes pods one at
 * a time, each when the pods before it are ready. With Parallel, it does so for all pods at once. After a template change, it replaces the
 * pods from the last to the first.
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
    /** Pod name -> the pod */
    const byName = new Map(pods.map((pod) => [pod.metadata.name, pod]));
    // With OrderedReady, the first pod that is missing, terminating or not ready delays all pods after it.
    const firstUnready = wanted.findIndex((name) => !isReadyPod(byName.get(name)));
    const eligible = isParallel || firstUnready < 0 ? wanted : wanted.slice(0, firstUnready + 1);
    const missing = eligible.filter((name) => !byName.has(name));
    await actions.createPods(
      set,
      missing.map((name) => podOf(set, name, revision)),
    );

    const ended = eligible.flatMap((name) => byName.get(name) ?? []).filter((pod) => hasEnded(pod) && !isDeleting(pod));
    const delays = ended.map((pod) => endedAt(pod) + replacementDelayMs - actions.nowMs);
    await actions.deletePods(
      set,
      ended.filter((_, index) => delays[index]! <= 0),
    );

    const surplus = pods.filter(({ metadata: { name } }) => !wanted.includes(name));
    const outdated = spec.updateStrategy?.type === 'OnDelete' ? [] : pods.filter((pod) => !isOf(pod, revision));
    const toDelete = [...surplus.sort(lastFirst), ...outdated.filter((pod) => !surplus.includes(pod)).sort(lastFirst)];
    // Outdated pods need not be ready: the user may have changed the template because its pods never become ready.
    const mayReplace = missing.length === 0 && pods.every((pod) => !isOf(pod, revision) || isReady(pod));
    const next = isParallel ? toDelete : toDelete.slice(0, surplus.length > 0 ? 1 : Number(mayReplace));
    if (isParallel || !pods.some(isDeleting))
      await actions.deletePods(
        set,
        next.filter((pod) => !isDeleting(pod)),
      );
    const later = delays.filter((ms) => ms > 0);
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
