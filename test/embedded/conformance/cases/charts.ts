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
  'a secret hides texts in its data': async (api) => {
    await api.create('secrets', { metadata: { name: 's' }, stringData: { password: 'p' }, data: { raw: 'AQI=' } });
    await api.merge('secrets/s', { stringData: { password: 'q' } });
    await api.merge('secrets/s', { type: 'other' });
    await api.create('secrets', { metadata: { name: 't' }, data: { 'a b': 'AQI=' } });
    await api.create('secrets', { metadata: { name: 'tls' }, type: 'kubernetes.io/tls', data: { 'tls.crt': 'AQI=' } });
    await api.get('secrets?fieldSelector=type%3DOpaque', {
      view: (list) => list.items.map((item: any) => item.metadata.name),
    });
  },
  'a service gets its defaults': async (api) => {
    await api.create(
      'services',
      { metadata: { name: 'web' }, spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } },
      withoutAddresses,
    );
    await api.create('services', { metadata: { name: 'none' }, spec: { clusterIP: 'None', selector: { app: 'web' } } });
    await api.create('services', {
      metadata: { name: 'out' },
      spec: { type: 'ExternalName', externalName: 'a.example' },
    });
    await api.merge('services/web', { spec: { clusterIP: '10.0.0.77' } }, { view: ({ reason }) => reason });
  },
  'a service must be whole': async (api) => {
    await api.create('services', { metadata: { name: 'web' }, spec: { selector: { app: 'web' } } });
    await api.create('services', { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }, { port: 81 }] } });
    await api.create('services', { metadata: { name: 'web' }, spec: { ports: [{ port: 0 }] } });
    await api.create('services', { metadata: { name: '1web' }, spec: { ports: [{ port: 80 }] } }, withoutAddresses);
  },
  'a role and its binding are checked': async (api) => {
    await api.create('roles', {
      metadata: { name: 'r:a' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    });
    await api.create('roles', { metadata: { name: 'r' }, rules: [{ verbs: [] }] });
    await api.create('roles', { metadata: { name: 'r' }, rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] });
    await api.create('rolebindings', {
      metadata: { name: 'b' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r:a' },
      subjects: [
        { kind: 'ServiceAccount', name: 'bot', namespace: api.namespace },
        { kind: 'User', name: 'u' },
      ],
    });
    await api.merge('rolebindings/b', { roleRef: { name: 'other' } });
    await api.create('rolebindings', {
      metadata: { name: 'c' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Thing', name: 'r' },
      subjects: [
        { kind: 'ServiceAccount', name: 'bot' },
        { kind: 'Robot', name: 'u' },
      ],
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
  'a network policy says which way it goes': async (api) => {
    const path = 'networkpolicies';
    await api.create(path, {
      metadata: { name: 'a' },
      spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] },
    });
    await api.create(path, {
      metadata: { name: 'b' },
      spec: { podSelector: { matchLabels: { a: 'b' } }, egress: [{}] },
    });
    await api.create(path, { metadata: { name: 'c' }, spec: { podSelector: {}, ingress: [{ from: [{}] }] } });
  },
  'a service account gets tokens': async (api) => {
    const view = ({ status, spec, ...rest }: any): unknown => ({
      ...rest,
      seconds: spec?.expirationSeconds,
      has: Object.keys(status ?? {}),
    });
    await api.givenCreated('serviceaccounts', { metadata: { name: 'bot' } });
    await api.create('serviceaccounts/bot/token', { spec: { expirationSeconds: 600 } }, { view });
    await api.create('serviceaccounts/bot/token', { spec: { expirationSeconds: 599 } });
    await api.create('serviceaccounts/none/token', {});
  },
};
