import type { JsonObject } from '../json.ts';
import type { ApiGroup, ResourceRegistry } from '../kinds/resource-registry.ts';
import { apiVersionOf } from '../kinds/resource-type.ts';

/** Returns the response to `GET /api`. Clients that prefer aggregated discovery accept this, too. */
export function coreVersions(serverAddress: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** Returns the response to `GET /apis`. */
export function groupList(registry: ResourceRegistry): JsonObject {
  const groups = registry.groups().filter((group) => group.name !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupEntry) };
}

/** Returns the response to `GET /apis/GROUP`. Undefined if the group does not exist. */
export function groupOf(registry: ResourceRegistry, name: string): JsonObject | undefined {
  const found = registry.groups().find((group) => group.name === name);
  return found && { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(found) };
}

function groupEntry(group: ApiGroup): JsonObject {
  const versions = group.versions.map(({ version }) => ({ groupVersion: `${group.name}/${version}`, version }));
  return { name: group.name, versions, preferredVersion: versions[0]! };
}

const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

/** Returns the response to `GET /api/v1` or `GET /apis/GROUP/VERSION`. Undefined if the version does not exist. */
export function resourceList(registry: ResourceRegistry, group: string, version: string): JsonObject | undefined {
  const found = registry
    .groups()
    .find((each) => each.name === group)
    ?.versions.find((each) => each.version === version);
  if (found === undefined) return undefined;
  const resources = found.resources.flatMap((type): JsonObject[] => [
    {
      name: type.plural,
      singularName: type.singular,
      namespaced: type.namespaced,
      kind: type.kind,
      verbs: [...verbs],
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
  return {
    kind: 'APIResourceList',
    // As in kube-apiserver, the list of the core group has no apiVersion.
    ...(group !== '' && { apiVersion: 'v1' }),
    groupVersion: apiVersionOf({ group, version }),
    resources,
  };
}
