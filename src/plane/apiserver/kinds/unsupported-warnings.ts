import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../json.ts';
import { objectAt, objectsAt, textAt, valueAt } from './access.ts';
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
  ['deployments.apps', ['minReadySeconds', 'paused', 'strategy.rollingUpdate']],
  ['replicasets.apps', ['minReadySeconds']],
  ['statefulsets.apps', ['minReadySeconds', 'updateStrategy.rollingUpdate', 'volumeClaimTemplates']],
]);

/** Provisioners of StorageClasses that need no storage driver on the plane. */
const knownProvisioners: ReadonlySet<string> = new Set(['tutti.dev/simulated', 'kubernetes.io/no-provisioner']);

/** Returns a warning for each part that an update adds and that the plane stores but does not act on. */
export function newUnsupportedWarnings(type: ResourceType, object: JsonObject, previous: JsonObject): string[] {
  if (isDeepStrictEqual(object.spec ?? null, previous.spec ?? null)) return [];
  const before = unsupportedWarnings(type, previous);
  return unsupportedWarnings(type, object).filter((warning) => !before.includes(warning));
}

/** Returns a warning for each change of size in an update of a Node: a simulated node keeps its size. */
export function resizeWarnings(type: ResourceType, sent: JsonObject, previous: JsonObject): string[] {
  if (type.storage !== 'nodes') return [];
  const isOther = (field: string): boolean => {
    const size = objectAt(objectAt(previous, 'status'), field);
    const wanted = objectAt(objectAt(sent, 'status'), field) ?? {};
    return Object.keys(wanted).some((resource) => wanted[resource] !== size?.[resource]);
  };
  return ['capacity', 'allocatable']
    .filter(isOther)
    .map(
      (field) =>
        `status.${field}: the embedded plane sizes a node when the Node is created: delete the Node and apply it again`,
    );
}

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
  if (type.storage === 'storageclasses.storage.k8s.io' && !knownProvisioners.has(textAt(object, 'provisioner'))) {
    return [
      'provisioner: the embedded plane runs no storage drivers: only the provisioner tutti.dev/simulated makes volumes',
    ];
  }
  const spec = objectAt(object, 'spec');
  if (type.storage === 'customresourcedefinitions.apiextensions.k8s.io') {
    const hasDefaults = JSON.stringify(spec).includes('"default":');
    return hasDefaults ? ['spec.versions: the embedded plane does not fill in the defaults of custom resources'] : [];
  }
  const ignored = (ignoredSpecFields.get(type.storage) ?? []).filter(
    (field) => valueAt(object, `spec.${field}`) !== undefined,
  );
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
