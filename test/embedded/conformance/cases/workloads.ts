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

/** Deployments and PodDisruptionBudgets. */
export const workloads: CaseGroup = {
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
  'a deployment must select its own pods and keep its selector': async (api) => {
    const path = 'deployments';
    await api.create(path, deployment({ template: template({ app: 'other' }) }));
    await api.create(path, deployment({ replicas: -1 }));
    await api.create(path, deployment({ strategy: { type: 'Sometimes' } }));
    await api.givenCreated(path, deployment());
    await api.merge(`${path}/web`, {
      spec: { selector: { matchLabels: { tier: 'x' } }, template: { metadata: { labels: { tier: 'x' } } } },
    });
  },
  'a disruption budget has either minAvailable or maxUnavailable': async (api) => {
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
};
