import type { CaseGroup } from '../conformance-case.ts';

/** Resources of the core group that the scheduler, the controller and kubectl's commands around them need. */
const coreResources = [
  ...['configmaps', 'events', 'namespaces', 'namespaces/status', 'nodes', 'nodes/status'],
  ...['pods', 'pods/binding', 'pods/eviction', 'pods/status', 'serviceaccounts'],
];
const groups = [
  ...['apiextensions.k8s.io', 'coordination.k8s.io', 'events.k8s.io', 'scheduling.k8s.io', 'scheduling.x-k8s.io'],
];
const served = new Set(groups);
const ordered = [...groups, 'apps', 'batch', 'policy', 'storage.k8s.io'];

interface Named {
  readonly name: string;
}

function resourcesOf(names: readonly string[]): (list: { resources: Named[] }) => unknown {
  return (list) => ({ ...list, resources: sorted(list.resources.filter(({ name }) => names.includes(name))) });
}

/** Servers differ in the order and in the short names' order, so clients must not rely on it. */
function sorted<T extends Named>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Verbs without an order, and without the one that the embedded plane does not serve. */
function withSortedVerbs(list: any): any {
  const served = (verbs: readonly string[]): string[] => verbs.filter((verb) => verb !== 'deletecollection').toSorted();
  return { ...list, resources: list.resources.map((each: any) => ({ ...each, verbs: served(each.verbs) })) };
}

export const discovery: CaseGroup = {
  'the version has the fields that clients read': async (api) => {
    await api.get('/version', {
      view: (version) => ['major', 'minor', 'gitVersion', 'platform'].map((key) => typeof version[key]),
    });
  },
  'the health endpoints respond': async (api) => {
    for (const path of ['/healthz', '/livez', '/readyz']) await api.get(path);
  },
  'the core group has one version': async (api) => {
    await api.get('/api', { view: ({ kind, versions }) => ({ kind, versions }) });
  },
  'groups and their preferred versions are listed': async (api) => {
    await api.get('/apis', {
      view: (list) => ({
        ...list,
        groups: sorted<Named>(list.groups.filter(({ name }: Named) => served.has(name))).map((group: any) => ({
          name: group.name,
          preferredVersion: group.preferredVersion,
        })),
      }),
    });
  },
  'groups are listed in an order by which kubectl chooses among kinds of one name': async (api) => {
    await api.get('/apis', {
      view: (list) => list.groups.map(({ name }: Named) => name).filter((name: string) => ordered.includes(name)),
    });
  },
  'the resources of the core group are listed': async (api) => {
    await api.get('/api/v1', { view: (list) => withSortedVerbs(resourcesOf(coreResources)(list)) });
  },
  'the resources of other groups are listed': async (api) => {
    await api.get('/apis/scheduling.k8s.io/v1', {
      view: (list) => withSortedVerbs(resourcesOf(['priorityclasses'])(list)),
    });
    await api.get('/apis/coordination.k8s.io/v1', { view: withSortedVerbs });
    await api.get('/apis/events.k8s.io/v1', { view: withSortedVerbs });
  },
  'custom resources are listed with their status subresource': async (api) => {
    await api.get('/apis/scheduling.x-k8s.io/v1alpha1', { view: withSortedVerbs });
  },
  'a group that is not served is not found': async (api) => {
    await api.get('/apis/unknown.example.com/v1');
  },
  'a resource that is not served is not found': async (api) => {
    await api.get('/api/v1/nothings');
    await api.get(`/api/v1/namespaces/${api.namespace}/nothings/any`);
  },
  'a subresource that is not served is not found': async (api) => {
    await api.givenCreated('configmaps', { metadata: { name: 'a' } });
    await api.get('configmaps/a/nothing');
  },
  'an unsupported media type is not acceptable': async (api) => {
    await api.get('configmaps', { accept: 'application/x-nothing', view: ({ reason, code }) => ({ reason, code }) });
  },
  'OpenAPI names a document for each group and version': async (api) => {
    await api.get('/openapi/v3', {
      view: ({ paths }) =>
        ['api/v1', 'apis/coordination.k8s.io/v1'].map((path) => [path, Object.keys(paths[path] ?? {})]),
    });
  },
  'OpenAPI lists the parameters of a patch': async (api) => {
    const path = '/api/v1/namespaces/{namespace}/pods/{name}';
    await api.get('/openapi/v3/api/v1', {
      view: ({ paths }) => {
        const { patch } = paths[path];
        return {
          kind: patch['x-kubernetes-group-version-kind'],
          action: patch['x-kubernetes-action'],
          parameters: patch.parameters.map(({ name }: Named) => name).sort(),
        };
      },
    });
  },
};
