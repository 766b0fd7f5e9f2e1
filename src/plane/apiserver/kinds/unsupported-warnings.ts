import type { JsonObject } from '../json.ts';
import { objectAt, objectsAt } from './access.ts';
import type { ResourceType } from './resource-type.ts';

const noDrivers = 'the embedded plane runs no storage drivers: it stores the object but does not act on it';

/** Storage name, such as `poddisruptionbudgets.policy` -> warning for the user that the plane does not act on its objects. */
const storedOnly: ReadonlyMap<string, string> = new Map([
  ['replicationcontrollers', 'the embedded plane creates no pods for a ReplicationController: use a Deployment'],
  [
    'poddisruptionbudgets.policy',
    'the embedded plane runs no disruption controller: evictions do not check the PodDisruptionBudget, and its status does not change',
  ],
  ['services', 'simulated pods have no network: the Service gets no address, and only topology spreading reads it'],
  ['csidrivers.storage.k8s.io', noDrivers],
  ['csistoragecapacities.storage.k8s.io', noDrivers],
  ['volumeattachments.storage.k8s.io', noDrivers],
]);

/** Groups of custom resources that Tutti itself acts on. */
const ownGroups: ReadonlySet<string> = new Set(['scheduling.x-k8s.io']);

/** Container field -> warning for the user that the plane does not act on it. */
const containerFields: ReadonlyMap<string, string> = new Map([
  ['livenessProbe', 'simulated pods run no containers: the probe is not run'],
  ['readinessProbe', 'simulated pods run no containers: the probe is not run, and the pod is ready when it runs'],
  ['startupProbe', 'simulated pods run no containers: the probe is not run'],
  ['lifecycle', 'simulated pods run no containers: the hooks are not run'],
]);

/** Storage name -> spec fields that no controller of the plane acts on. */
const ignoredSpecFields: ReadonlyMap<string, readonly string[]> = new Map([
  ['jobs.batch', ['podFailurePolicy', 'successPolicy', 'backoffLimitPerIndex', 'maxFailedIndexes', 'managedBy']],
  ['deployments.apps', ['minReadySeconds']],
  ['replicasets.apps', ['minReadySeconds']],
  ['statefulsets.apps', ['minReadySeconds', 'volumeClaimTemplates']],
]);

/** Returns a warning for each part of a new object that the plane stores but does not act on, for the `Warning` header. */
export function unsupportedWarnings(type: ResourceType, object: JsonObject): string[] {
  const known = storedOnly.get(type.storage);
  if (known !== undefined) return [known];
  if (type.content.type === 'structural') {
    if (ownGroups.has(type.group)) return [];
    return [
      `the embedded plane stores ${type.kind} objects but runs no operator for ${type.group}: run the operator against it, or use a cluster that has one`,
    ];
  }
  const spec = objectAt(object, 'spec');
  const ignored = (ignoredSpecFields.get(type.storage) ?? []).filter((field) => spec?.[field] !== undefined);
  const [podSpec, path] =
    type.storage === 'pods' ? [spec, 'spec'] : [objectAt(objectAt(spec, 'template'), 'spec'), 'spec.template.spec'];
  const probes = ['initContainers', 'containers'].flatMap((list) =>
    objectsAt(podSpec, list).flatMap((container, index) =>
      [...containerFields]
        .filter(([field]) => container[field] !== undefined)
        .map(([field, sentence]) => `${path}.${list}[${index}].${field}: ${sentence}`),
    ),
  );
  return [
    ...ignored.map((field) => `spec.${field}: the embedded plane does not act on this field of a ${type.kind}`),
    ...probes,
  ];
}
