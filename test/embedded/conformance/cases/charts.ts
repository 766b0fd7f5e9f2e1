import type { CaseGroup } from '../conformance-case.ts';

const template = (labels: object = { app: 'web' }): object => ({
  metadata: { labels },
  spec: { containers: [{ name: 'main', image: 'image:1', ports: [{ containerPort: 80 }] }] },
});
const deployment = (spec: object = {}): object => ({
  metadata: { name: 'web' },
  spec: { selector: { matchLabels: { app: 'web' } }, template: template(), ...spec },
});

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const apply = { contentType: 'application/apply-patch+yaml' };

/** Each server gives out addresses of its own. */
const withoutAddresses = {
  view: ({ spec, ...rest }: any): unknown => ({
    ...rest,
    ...(spec && { spec: { ...spec, clusterIP: '', clusterIPs: [] } }),
  }),
};

/** The kinds that charts are made of. */
export const charts: CaseGroup = {
  'a deployment gets its defaults': async (api) => {
    const path = 'deployments';
    await api.create(path, deployment());
    await api.get(`${path}?limit=1`, {
      accept: table,
      view: (list) => list.rows.map((row: any) => row.cells.slice(0, 4)),
    });
    await api.strategicMerge(`${path}/web`, { spec: { replicas: 3 } });
    await api.merge(`${path}/web`, { metadata: { annotations: { a: 'b' } } });
  },
  'a deployment must select its own pods, always the same': async (api) => {
    const path = 'deployments';
    await api.create(path, deployment({ template: template({ app: 'other' }) }));
    await api.create(path, deployment({ replicas: -1 }));
    await api.create(path, deployment({ strategy: { type: 'Sometimes' } }));
    await api.givenCreated(path, deployment());
    await api.merge(`${path}/web`, {
      spec: { selector: { matchLabels: { tier: 'x' } }, template: { metadata: { labels: { tier: 'x' } } } },
    });
  },
  'a disruption budget is one of two': async (api) => {
    const path = 'poddisruptionbudgets';
    const selector = { matchLabels: { app: 'web' } };
    await api.create(path, { metadata: { name: 'a' }, spec: { minAvailable: 1, selector } });
    await api.create(
      path,
      { metadata: { name: 'b' }, spec: { minAvailable: 1, maxUnavailable: 1, selector } },
      { view: ({ reason }) => reason },
    );
    await api.create(path, { metadata: { name: 'b' }, spec: { maxUnavailable: 'many', selector } });
    await api.get(path, { accept: table, view: (list) => list.rows.map((row: any) => row.cells.slice(0, 4)) });
  },
  'an apply merges, conflicts and is forced': async (api) => {
    const settings = (data: object): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data });
    await api.send('PATCH', 'configmaps/m?fieldManager=a', { ...apply, body: settings({ x: '1', y: '1' }) });
    await api.send('PATCH', 'configmaps/m?fieldManager=b', { ...apply, body: settings({ x: '2', y: '2' }) });
    await api.send('PATCH', 'configmaps/m?fieldManager=b', { ...apply, body: settings({ x: '2' }) });
    await api.send('PATCH', 'configmaps/m?fieldManager=b&force=true', { ...apply, body: settings({ x: '2' }) });
    await api.send('PATCH', 'configmaps/m?fieldManager=a', { ...apply, body: settings({}) });
  },
  'an apply is checked': async (api) => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' } };
    await api.send('PATCH', 'configmaps/m', { ...apply, body });
    await api.send('PATCH', 'configmaps/m?fieldManager=a', { ...apply, body: { ...body, metadata: { name: 'n' } } });
    await api.send('PATCH', 'configmaps/m?fieldManager=a', {
      ...apply,
      body: { ...body, metadata: { name: 'm', uid: 'u' } },
    });
    await api.send('PATCH', 'configmaps/m?fieldManager=a', { ...apply, body: { apiVersion: 'v1', kind: 'ConfigMap' } });
    await api.merge('configmaps/m?force=true', {});
  },
};
