import type { JsonObject } from '../../json.ts';
import { ensureObject, objectAt, objectsAt } from '../access.ts';
import { fillConditionTimes } from '../condition-times.ts';
import { canonicalizeQuantities } from '../quantity-fields.ts';

function setDefault(object: JsonObject, field: string, value: JsonObject[string]): void {
  object[field] ??= value;
}

/** Fills in what kube-apiserver fills in where it matters to scheduling or shows in kubectl. In place. */
export function applyPodDefaults(pod: JsonObject): void {
  const spec = ensureObject(pod, 'spec');
  setDefault(spec, 'restartPolicy', 'Always');
  setDefault(spec, 'terminationGracePeriodSeconds', 30);
  setDefault(spec, 'dnsPolicy', 'ClusterFirst');
  setDefault(spec, 'schedulerName', 'default-scheduler');
  setDefault(spec, 'enableServiceLinks', true);
  ensureObject(spec, 'securityContext');
  if (typeof spec.serviceAccount === 'string' && spec.serviceAccountName === undefined) {
    spec.serviceAccountName = spec.serviceAccount;
  }
  for (const field of ['containers', 'initContainers']) {
    for (const container of objectsAt(spec, field)) applyContainerDefaults(container);
  }
  const status = objectAt(pod, 'status');
  fillConditionTimes(status, ['lastProbeTime', 'lastTransitionTime']);
  if (typeof status?.podIP === 'string' && status.podIP !== '') setDefault(status, 'podIPs', [{ ip: status.podIP }]);
  canonicalizeQuantities(spec, 'overhead');
  const podResources = objectAt(spec, 'resources');
  canonicalizeQuantities(podResources, 'limits');
  canonicalizeQuantities(podResources, 'requests');
}

function applyContainerDefaults(container: JsonObject): void {
  setDefault(container, 'terminationMessagePath', '/dev/termination-log');
  setDefault(container, 'terminationMessagePolicy', 'File');
  if (container.imagePullPolicy === undefined) {
    const image = typeof container.image === 'string' ? container.image : '';
    const tagged = image.slice(image.lastIndexOf('/') + 1);
    const latest = !tagged.includes(':') || tagged.endsWith(':latest');
    container.imagePullPolicy = latest && !tagged.includes('@') ? 'Always' : 'IfNotPresent';
  }
  for (const port of objectsAt(container, 'ports')) setDefault(port, 'protocol', 'TCP');
  const resources = ensureObject(container, 'resources');
  canonicalizeQuantities(resources, 'limits');
  canonicalizeQuantities(resources, 'requests');
  const limits = objectAt(resources, 'limits');
  if (limits !== undefined) {
    const requests = ensureObject(resources, 'requests');
    for (const [name, limit] of Object.entries(limits)) setDefault(requests, name, limit);
  }
}
