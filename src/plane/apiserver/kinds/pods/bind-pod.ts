import { badRequest, conflict, invalid, notFound } from '../../http/api-error.ts';
import type { StatusCause } from '../../http/api-error.ts';
import type { JsonObject } from '../../json.ts';
import { metadataOf, objectAt, objectsAt, textAt } from '../access.ts';
import { notSupported, required } from '../../schema/field-error.ts';
import type { KindContext } from '../resource-type.ts';

const podBinding = { group: '', plural: 'pods/binding' };
const podReference = { group: '', plural: 'pods' };

/**
 * Binds a pod to the node of a Binding. Sets the node name, annotations, labels and the PodScheduled condition in one write. As in
 * kube-apiserver, does not check that the node exists. Throws 400 (different name), 404, 409 (bound, being deleted, gated, or a
 * different UID or resource version) or 422.
 */
export function bindPod(
  binding: JsonObject,
  namespace: string,
  name: string,
  dryRun: boolean,
  context: KindContext,
): void {
  const metadata = objectAt(binding, 'metadata') ?? {};
  const target = objectAt(binding, 'target') ?? {};
  if (textAt(metadata, 'name') !== name) throw badRequest('name in URL does not match name in Binding object');
  const causes: StatusCause[] = [];
  const targetKind = textAt(target, 'kind');
  if (targetKind !== '' && targetKind !== 'Node')
    causes.push(notSupported('target.kind', targetKind, ['Node', '<empty>']));
  const nodeName = textAt(target, 'name');
  if (nodeName === '') causes.push(required('target.name'));
  if (causes.length > 0) throw invalid('Binding', '', name, causes);

  const pods = context.store.collection('pods');
  const stored = pods.get(namespace, name);
  if (stored === undefined) throw notFound(podReference, name);
  const pod = stored.object;
  const reject = (why: string): never => {
    throw conflict(podBinding, name, why);
  };
  const preconditions = [
    ['UID', textAt(metadata, 'uid'), stored.uid],
    ['ResourceVersion', textAt(metadata, 'resourceVersion'), String(stored.resourceVersion)],
  ] as const;
  for (const [field, wanted, found] of preconditions) {
    if (wanted === '' || wanted === found) continue;
    const why = `Precondition failed: ${field} in precondition: ${wanted}, ${field} in object meta: ${found}`;
    throw conflict(podReference, name, why);
  }
  const spec = objectAt(pod, 'spec') ?? {};
  if (metadataOf(pod).deletionTimestamp !== undefined) {
    reject(`pod ${name} is being deleted, cannot be assigned to a host`);
  }
  if (textAt(spec, 'nodeName') !== '') {
    reject(`pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`);
  }
  if (objectsAt(spec, 'schedulingGates').length > 0) reject(`pod ${name} has non-empty .spec.schedulingGates`);
  if (dryRun) return;
  const annotations = objectAt(metadata, 'annotations');
  const labels = objectAt(metadata, 'labels');
  pods.write({
    ...pod,
    metadata: {
      ...metadataOf(pod),
      ...(annotations && { annotations: { ...objectAt(metadataOf(pod), 'annotations'), ...annotations } }),
      ...(labels && { labels: { ...objectAt(metadataOf(pod), 'labels'), ...labels } }),
    },
    spec: { ...spec, nodeName },
    status: withScheduledCondition(objectAt(pod, 'status') ?? {}, context.now()),
  });
}

function withScheduledCondition(status: JsonObject, now: string): JsonObject {
  const conditions = objectsAt(status, 'conditions');
  const before = conditions.find((condition) => condition.type === 'PodScheduled');
  const lastTransitionTime = before?.status === 'True' ? (before.lastTransitionTime ?? now) : now;
  const scheduled: JsonObject = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime };
  return { ...status, conditions: [...conditions.filter((condition) => condition !== before), scheduled] };
}
