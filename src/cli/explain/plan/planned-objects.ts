import { nativeVersions } from '../../../api/native-pod-group.ts';
import { podGroupResource } from '../../../api/pod-group.ts';
import { manifestTitle } from '../../manifests/manifest.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import { plannedKinds } from './planned-object.ts';
import type { PlannedJson, PlannedKind, PlannedObject } from './planned-object.ts';
import { podCountOf } from './pods-of-object.ts';
import { fieldProblems, maxPods } from './spec-problems.ts';

/** kind -> the apiVersions under which it can be planned, and its resource */
const resources: Readonly<Record<PlannedKind, { readonly versions: readonly string[]; readonly plural: string }>> = {
  Pod: { versions: ['v1'], plural: 'pods' },
  PodGroup: {
    versions: [podGroupResource.apiVersion, ...nativeVersions.map((version) => `scheduling.k8s.io/${version}`)],
    plural: 'podgroups',
  },
  Job: { versions: ['batch/v1'], plural: 'jobs' },
  ReplicaSet: { versions: ['apps/v1'], plural: 'replicasets' },
  Deployment: { versions: ['apps/v1'], plural: 'deployments' },
  StatefulSet: { versions: ['apps/v1'], plural: 'statefulsets' },
};

/** How the end of a generated name is shown, because the API server has not chosen it. */
const generatedSuffix = 'xxxxx';

/** Returns the objects of manifests that can be planned, and what is wrong with the others. `namespace`: of objects without one. */
export function plannedObjects(
  manifests: readonly Manifest[],
  namespace: string,
): { readonly objects: readonly PlannedObject[]; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const objects: PlannedObject[] = [];
  let pods = 0;
  for (const manifest of manifests) {
    const { object, where, lineOf } = manifest;
    const problemAt = (field: string, problem: string): void =>
      void problems.push(`${where}, line ${lineOf(field)}: ${manifestTitle(object)}: ${field}: ${problem}`);
    const kind = plannedKinds.find((each) => each === object.kind);
    const resource = kind && resources[kind];
    if (kind === undefined || !resource!.versions.includes(object.apiVersion)) {
      problemAt('kind', `${object.kind} of ${object.apiVersion} cannot be planned; use ${listOf(plannedKinds)}`);
      continue;
    }
    const json = object as PlannedJson;
    const found = fieldProblems(kind, json);
    for (const [field, problem] of found) problemAt(field, problem);
    if (found.length > 0) continue;
    const isFull = pods > maxPods;
    pods += podCountOf({ kind }, json);
    if (!isFull && pods > maxPods)
      problemAt('kind', `from here on, the files ask for more than ${maxPods} pods in all`);
    const own = json.metadata.namespace ?? namespace;
    const name = json.metadata.name ?? `${json.metadata.generateName}${generatedSuffix}`;
    objects.push({
      kind,
      object: { ...json, metadata: { ...json.metadata, namespace: own } },
      namespace: own,
      name,
      title: `${where}: ${kind} ${own}/${name}`,
      path: `${rootOf(object.apiVersion)}/namespaces/${encodeURIComponent(own)}/${resource!.plural}`,
      ...{ lineOf, where },
    });
  }
  return { objects, problems };
}

function rootOf(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

function listOf(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)!}`;
}
