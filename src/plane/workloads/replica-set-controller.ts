import { byProgress, isActive, isDeleting, isReady, replacementDelay } from './workload.ts';
import type { PodTemplate, Workload } from './workload.ts';
import { maxChanges } from './workload-actions.ts';
import type { WorkloadController } from './workload-controller.ts';

export interface ReplicaSetStatus {
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
}

export type ReplicaSet = Workload<{ readonly replicas: number }, ReplicaSetStatus>;

/** Keeps the number of active pods equal to `spec.replicas`. Terminated pods do not count and remain until they are deleted. */
export const replicaSetController: WorkloadController = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  reportingController: 'replicaset-controller',

  async reconcile(workload, path, actions) {
    const set = workload as ReplicaSet;
    const { replicas, template } = set.spec;
    const pods = await actions.ownedPods(set);
    const active = pods.filter(isActive);
    const ready = active.filter(isReady).length;
    await actions.writeStatus(path, set, {
      replicas: active.length,
      fullyLabeledReplicas: active.length,
      readyReplicas: ready,
      availableReplicas: ready,
      observedGeneration: set.metadata.generation,
    });
    if (isDeleting(set)) return undefined;
    const missing = replicas - active.length;
    await actions.deletePods(set, active.sort(byProgress).slice(0, Math.max(0, -missing)));
    if (missing <= 0) return undefined;
    const afterMs = replacementDelay(pods, actions.nowMs);
    if (afterMs > 0) return { afterMs };
    await actions.createPods(
      set,
      Array.from({ length: Math.min(missing, maxChanges) }, () => podOf(template, set.metadata.name)),
    );
    return undefined;
  },
};

/** Returns a pod from the template. The API server generates its name. */
function podOf({ metadata, spec }: PodTemplate, owner: string): object {
  return { metadata: { ...metadata, generateName: `${owner}-` }, spec };
}
