import type { CaseGroup } from '../conformance-case.ts';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const path = 'jobs';

const podTemplate = (spec: object = {}, metadata: object = {}): object => ({
  ...(Object.keys(metadata).length > 0 && { metadata }),
  spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'image:1' }], ...spec },
});
const job = (name: string, spec: object = {}, template: object = podTemplate()): object => ({
  metadata: { name },
  spec: { template, ...spec },
});
const indexed = (name: string, spec: object = {}, template: object = podTemplate()): object =>
  job(name, { completionMode: 'Indexed', completions: 3, parallelism: 3, ...spec }, template);

/** Jobs as the API server stores them, without a Job controller. */
export const jobs: CaseGroup = {
  'a job gets its defaults and its own selector': async (api) => {
    await api.create(path, job('plain'));
    await api.create(path, job('labelled', { parallelism: 2 }, podTemplate({}, { labels: { app: 'a' } })));
    await api.create(path, indexed('indexed', { backoffLimitPerIndex: 1, maxFailedIndexes: 2 }));
    await api.get(`${path}/plain`);
    await api.get(path, { accept: table, view: (list) => list.rows.map((row: any) => row.cells.slice(0, 4)) });
    await api.get(`${path}?fieldSelector=status.successful%3D0`, {
      view: (list) => list.items.map((item: any) => item.metadata.name),
    });
  },
  'a job is validated': async (api) => {
    await api.create(path, job('a', {}, podTemplate({ restartPolicy: 'Always' })));
    await api.create(path, job('a', { parallelism: -1, completions: -2, backoffLimit: -3, activeDeadlineSeconds: -4 }));
    await api.create(path, job('a', { ttlSecondsAfterFinished: -1 }));
    await api.create(path, job('a', { completionMode: 'Sometimes' }));
    await api.create(path, job('a', { completionMode: 'Indexed', parallelism: 2 }));
    await api.create(path, indexed('a', { parallelism: 100_001 }));
    await api.create(path, indexed('a'.repeat(62)));
    await api.create(path, job('a', { selector: { matchLabels: { app: 'b' } } }));
    await api.create(path, job('a', {}, podTemplate({}, { labels: { 'job-name': 'b' } })));
    await api.create(path, job('a', { manualSelector: true }));
    await api.create(path, job('a', { manualSelector: true, selector: { matchLabels: { app: 'b' } } }));
  },
  'the template and the completions of a job are immutable': async (api) => {
    await api.givenCreated(path, job('a'));
    await api.merge(`${path}/a`, { spec: { parallelism: 3 } });
    await api.merge(`${path}/a`, { spec: { completions: 2 } });
    await api.merge(`${path}/a`, { spec: { completionMode: 'Indexed' } });
    await api.merge(
      `${path}/a`,
      { spec: { selector: { matchLabels: { app: 'b' } } } },
      { view: ({ reason }) => reason },
    );
    await api.strategicMerge(
      `${path}/a`,
      { spec: { template: { spec: { containers: [{ name: 'main', image: 'image:2' }] } } } },
      { view: ({ reason, details }) => [reason, details.causes.map(({ field }: any) => field)] },
    );
    await api.givenCreated(path, indexed('b'));
    await api.merge(
      `${path}/b`,
      { spec: { completions: 2, parallelism: 2 } },
      { view: ({ spec }) => spec.completions },
    );
    await api.merge(`${path}/b`, { spec: { completions: 5 } });
  },
  'the node selector of a suspended job can be changed': async (api) => {
    const elsewhere = { spec: { template: { spec: { nodeSelector: { zone: 'b' } } } } };
    const view = ({ reason, spec }: any): unknown => reason ?? spec.template.spec.nodeSelector;
    await api.givenCreated(path, job('a', { suspend: true }));
    await api.merge(`${path}/a`, elsewhere, { view });
    await api.givenCreated(path, job('b'));
    await api.merge(`${path}/b`, elsewhere, { view });
  },
};
