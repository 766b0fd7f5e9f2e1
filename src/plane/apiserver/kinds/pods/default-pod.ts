import type { JsonObject } from '../../json.ts';
import { ensureObject, objectAt, objectsAt, ownValue } from '../access.ts';

function setDefault(object: JsonObject, field: string, value: JsonObject[string]): void {
  if ((ownValue(object, field) ?? null) === null) object[field] = value;
}

/** Sets kube-apiserver's defaults that affect scheduling or that kubectl shows. In place. */
export function applyPodDefaults(pod: JsonObject): void {
  const spec = ensureObject(pod, 'spec');
  applyPodSpecDefaults(spec);
  setDefault(spec, 'enableServiceLinks', true);
  for (const container of containersOf(spec)) defaultRequestsToLimits(container);
  const status = objectAt(pod, 'status');
  if (typeof status?.podIP === 'string' && status.podIP !== '') setDefault(status, 'podIPs', [{ ip: status.podIP }]);
}

/** Sets the defaults that pods and pod templates share. In place. */
export function applyPodSpecDefaults(spec: JsonObject): void {
  setDefault(spec, 'restartPolicy', 'Always');
  setDefault(spec, 'terminationGracePeriodSeconds', 30);
  setDefault(spec, 'dnsPolicy', 'ClusterFirst');
  setDefault(spec, 'schedulerName', 'default-scheduler');
  ensureObject(spec, 'securityContext');
  if (typeof spec.serviceAccount === 'string' && spec.serviceAccountName === undefined) {
    spec.serviceAccountName = spec.serviceAccount;
  }
  for (const container of containersOf(spec)) applyContainerDefaults(container);
}

function containersOf(spec: JsonObject): JsonObject[] {
  return [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')];
}

function defaultRequestsToLimits(container: JsonObject): void {
  const resources = ensureObject(container, 'resources');
  const limits = objectAt(resources, 'limits');
  if (limits === undefined) return;
  const requests = ensureObject(resources, 'requests');
  for (const [name, limit] of Object.entries(limits)) setDefault(requests, name, limit);
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
  for (const variable of objectsAt(container, 'env')) {
    const field = objectAt(objectAt(variable, 'valueFrom'), 'fieldRef');
    if (field !== undefined) setDefault(field, 'apiVersion', 'v1');
  }
  ensureObject(container, 'resources');
}
