import type { JsonObject } from '../json.ts';
import type { ApiGroup, ResourceRegistry } from '../kinds/resource-registry.ts';
import { apiVersionOf } from '../kinds/resource-type.ts';
import type { ResourceType } from '../kinds/resource-type.ts';

/** `GET /api`, as servers answered before aggregated discovery. */
export function legacyVersions(serverAddress: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** `GET /apis`, legacy form. */
export function legacyGroupList(registry: ResourceRegistry): JsonObject {
  const groups = registry.groups().filter((group) => group.name !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupEntry) };
}

/** `GET /apis/GROUP`; undefined when there is no such group. */
export function legacyGroup(registry: ResourceRegistry, name: string): JsonObject | undefined {
  const group = registry.groups().find((each) => each.name === name && name !== '');
  return group && { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(group) };
}

function groupEntry(group: ApiGroup): JsonObject {
  const versions = group.versions.map(({ version }) => ({ groupVersion: `${group.name}/${version}`, version }));
  return { name: group.name, versions, preferredVersion: versions[0]! };
}

/** `GET /api/v1` and `GET /apis/GROUP/VERSION`; undefined when there is no such version. */
export function legacyResourceList(registry: ResourceRegistry, group: string, version: string): JsonObject | undefined {
  const found = registry
    .groups()
    .find((each) => each.name === group)
    ?.versions.find((each) => each.version === version);
  if (found === undefined) return undefined;
  const bindings = { name: 'bindings', singularName: 'binding', namespaced: true, kind: 'Binding', verbs: ['create'] };
  const resources: JsonObject[] = [...(group === '' ? [bindings] : [])];
  const listed: JsonObject[] = found.resources.flatMap((type) => [
    {
      name: type.plural,
      singularName: type.singular,
      namespaced: type.namespaced,
      kind: type.kind,
      verbs: [...type.verbs],
      ...(type.shortNames.length > 0 && { shortNames: [...type.shortNames] }),
      ...(type.categories.length > 0 && { categories: [...type.categories] }),
    },
    ...type.subresources.map((subresource) => ({
      name: `${type.plural}/${subresource.name}`,
      singularName: '',
      namespaced: type.namespaced,
      kind: subresource.kind,
      ...((subresource.group !== type.group || subresource.version !== type.version) && {
        group: subresource.group,
        version: subresource.version,
      }),
      verbs: [...subresource.verbs],
    })),
  ]);
  resources.push(...listed);
  return {
    kind: 'APIResourceList',
    // The oldest list of all says no version of itself.
    ...(group !== '' && { apiVersion: 'v1' }),
    groupVersion: apiVersionOf({ group, version }),
    resources,
  };
}

/** The aggregated form of `GET /api` (the core group) and `GET /apis` (all others). */
export function aggregatedDiscovery(
  registry: ResourceRegistry,
  part: 'core' | 'groups',
  version: 'v2' | 'v2beta1',
): JsonObject {
  const groups = registry.groups().filter((group) => (group.name === '') === (part === 'core'));
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map((group) => ({
      metadata: { name: group.name, creationTimestamp: null },
      versions: group.versions.map((each) => ({
        version: each.version,
        resources: each.resources.map(discoveredResource),
        freshness: 'Current',
      })),
    })),
  };
}

function discoveredResource(type: ResourceType): JsonObject {
  return {
    resource: type.plural,
    responseKind: { group: type.group, version: type.version, kind: type.kind },
    scope: type.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: type.singular,
    verbs: [...type.verbs],
    ...(type.shortNames.length > 0 && { shortNames: [...type.shortNames] }),
    ...(type.categories.length > 0 && { categories: [...type.categories] }),
    ...(type.subresources.length > 0 && {
      subresources: type.subresources.map((subresource) => ({
        subresource: subresource.name,
        responseKind: { group: subresource.group, version: subresource.version, kind: subresource.kind },
        verbs: [...subresource.verbs],
      })),
    }),
  };
}
