import { collectionPath, objectPath } from './workload-controller.ts';
import type { WorkloadController } from './workload-controller.ts';
import type { WorkloadActions } from './workload-actions.ts';
import { replicaSetController } from './replica-set-controller.ts';
import type { ReplicaSet } from './replica-set-controller.ts';
import { isDeleting, ownedBy, templateHash, withCondition } from './workload.ts';
import type { Condition, Workload } from './workload.ts';

const hashLabel = 'pod-template-hash';

type Deployment = Workload<
  { readonly replicas: number; readonly strategy?: { readonly type?: string } },
  { readonly conditions?: readonly Condition[] }
>;

/**
 * Scales the ReplicaSet of a Deployment's current template to all replicas in one step, and deletes those of earlier templates once they
 * have no pods. With strategy Recreate, it creates new pods only after the old ones no longer exist.
 */
export const deploymentController: WorkloadController = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  plural: 'deployments',
  reportingController: 'deployment-controller',

  async reconcile(workload, path, actions) {
    const deployment = workload as Deployment;
    const { metadata, spec } = deployment;
    const sets = await actions.owned<ReplicaSet>(deployment, collectionPath(replicaSetController, metadata.namespace));
    const hash = templateHash(spec.template);
    const current = sets.find((set) => set.metadata.labels?.[hashLabel] === hash);
    if (isDeleting(deployment)) return undefined;
    if (current === undefined) {
      await createReplicaSet(deployment, hash, actions);
      return undefined; // the new ReplicaSet triggers the next reconcile
    }
    const old = sets.filter((set) => set !== current);
    await actions.writeStatus(path, deployment, statusOf(deployment, current, sets, actions.nowMs));
    for (const set of old) await scale(deployment, set, 0, actions);
    const hasPods = ({ status }: ReplicaSet): boolean => (status?.replicas ?? 0) > 0;
    const isWaiting = spec.strategy?.type === 'Recreate' && old.some(hasPods);
    if (!isWaiting) await scale(deployment, current, spec.replicas, actions);
    const idle = old.filter((set) => set.spec.replicas === 0 && !hasPods(set));
    await actions.each(idle, (set) => actions.delete(pathOf(set), set.metadata.uid));
    return undefined;
  },
};

function pathOf({ metadata }: ReplicaSet): string {
  return objectPath(replicaSetController, metadata);
}

async function createReplicaSet(deployment: Deployment, hash: string, actions: WorkloadActions): Promise<void> {
  const { namespace, name } = deployment.metadata;
  const { selector, template } = deployment.spec;
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  await actions.create(collectionPath(replicaSetController, namespace), {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: `${name}-${hash}`, labels, ownerReferences: ownedBy(deployment) },
    spec: {
      replicas: 0,
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  });
}

async function scale(
  deployment: Deployment,
  set: ReplicaSet,
  replicas: number,
  actions: WorkloadActions,
): Promise<void> {
  const { name } = set.metadata;
  const before = set.spec.replicas;
  if (before === replicas || !(await actions.patch(pathOf(set), 'merge', { spec: { replicas } }))) return;
  const direction = replicas > before ? 'up' : 'down';
  const note = `Scaled ${direction} replica set ${name} from ${before} to ${replicas}`;
  actions.record(deployment, 'Normal', 'ScalingReplicaSet', note);
}

function statusOf(
  { metadata, spec, status }: Deployment,
  current: ReplicaSet,
  sets: readonly ReplicaSet[],
  nowMs: number,
): object {
  const sum = (field: 'replicas' | 'readyReplicas' | 'availableReplicas'): number =>
    sets.reduce((total, set) => total + (set.status?.[field] ?? 0), 0);
  const [total, available] = [sum('replicas'), sum('availableReplicas')];
  const updated = current.status?.replicas ?? 0;
  const isAvailable = available >= spec.replicas;
  const isComplete = isAvailable && updated === spec.replicas && total === updated;
  const set = `ReplicaSet "${current.metadata.name}"`;
  const availability = {
    type: 'Available',
    status: isAvailable ? 'True' : 'False',
    reason: `MinimumReplicas${isAvailable ? 'Available' : 'Unavailable'}`,
    message: `Deployment ${isAvailable ? 'has' : 'does not have'} minimum availability.`,
  };
  const conditions = withCondition(status?.conditions ?? [], availability, nowMs);
  const progress = isComplete
    ? { reason: 'NewReplicaSetAvailable', message: `${set} has successfully progressed.` }
    : { reason: 'ReplicaSetUpdated', message: `${set} is progressing.` };
  return {
    observedGeneration: metadata.generation,
    replicas: total,
    updatedReplicas: updated,
    readyReplicas: sum('readyReplicas'),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, spec.replicas - available),
    conditions: withCondition(conditions, { type: 'Progressing', status: 'True', ...progress }, nowMs),
  };
}
