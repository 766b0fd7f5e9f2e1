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

const start = '2020-01-01T00:00:00Z';
const end = '2020-01-01T00:01:00Z';
const condition = (type: string, status = 'True'): object => ({ type, status, reason: 'Said', message: 'said so' });

/** Jobs as the API server has them, whoever acts on them. */
export const jobs: CaseGroup = {
  'a job gets its defaults, and a selector of its own': async (api) => {
    await api.create(path, job('plain'));
    await api.create(path, job('labelled', { parallelism: 2 }, podTemplate({}, { labels: { app: 'a' } })));
    await api.create(path, indexed('indexed', { backoffLimitPerIndex: 1, maxFailedIndexes: 2 }));
    await api.get(`${path}/plain`);
    await api.get(path, { accept: table, view: (list) => list.rows.map((row: any) => row.cells.slice(0, 4)) });
    await api.get(`${path}?fieldSelector=status.successful%3D0`, {
      view: (list) => list.items.map((item: any) => item.metadata.name),
    });
  },
  'a job is checked': async (api) => {
    await api.create(path, job('a', {}, podTemplate({ restartPolicy: 'Always' })));
    await api.create(path, job('a', { parallelism: -1, completions: -2, backoffLimit: -3, activeDeadlineSeconds: -4 }));
    await api.create(path, job('a', { ttlSecondsAfterFinished: -1 }));
    await api.create(path, job('a', { completionMode: 'Sometimes' }));
    await api.create(path, job('a', { completionMode: 'Indexed', parallelism: 2 }));
    await api.create(path, indexed('a', { parallelism: 100_001 }));
    await api.create(path, indexed('a', { backoffLimitPerIndex: -1 }));
    await api.create(path, indexed('a', { maxFailedIndexes: 1 }));
    await api.create(path, indexed('a', { maxFailedIndexes: 4, backoffLimitPerIndex: 1 }));
    await api.create(path, indexed('a', { completions: 100_001, backoffLimitPerIndex: 1, parallelism: 10_001 }));
    await api.create(path, job('a', { backoffLimitPerIndex: 1, maxFailedIndexes: 1 }));
    await api.create(path, job('a', { podReplacementPolicy: 'Never' }));
    await api.create(path, job('a', { managedBy: 'nobody' }));
    await api.create(path, job('a', { managedBy: `example.com/${'a'.repeat(60)}` }));
    await api.create(path, indexed('a'.repeat(62)));
    await api.create(path, job('a', { selector: { matchLabels: { app: 'b' } } }));
    await api.create(path, job('a', {}, podTemplate({}, { labels: { 'job-name': 'b' } })));
    await api.create(path, job('a', { manualSelector: true }));
    await api.create(path, job('a', { manualSelector: true, selector: { matchLabels: { app: 'b' } } }));
  },
  'a policy of failures is checked': async (api) => {
    const policy = (...rules: readonly object[]): object => ({ podFailurePolicy: { rules } });
    const codes = (values: readonly number[], rest: object = {}): object => ({
      action: 'FailJob',
      onExitCodes: { operator: 'In', values, ...rest },
    });
    await api.create(path, job('good', policy(codes([1, 2]), { action: 'Ignore', onPodConditions: [{ type: 'A' }] })));
    await api.create(path, job('a', policy(codes([0]))));
    await api.create(path, job('a', policy(codes([2, 1, 1]))));
    await api.create(path, job('a', policy(codes([]))));
    await api.create(path, job('a', policy(codes([1], { containerName: 'none', operator: 'Near' }))));
    await api.create(path, job('a', policy({ action: 'Cry', onPodConditions: [{ type: 'A', status: 'Maybe' }] })));
    await api.create(path, job('a', policy({ ...codes([1]), action: 'FailIndex' })));
    await api.create(path, job('a', policy({ action: 'Ignore' })));
    await api.create(path, job('a', policy(...Array.from({ length: 21 }, () => codes([1])))));
    await api.create(path, job('a', policy(codes(Array.from({ length: 256 }, (_, code) => code + 1)))));
    await api.create(path, job('a', policy({ ...codes([1]), onPodConditions: [{ type: 'A' }] })));
    await api.create(path, job('a', policy(codes([1])), podTemplate({ restartPolicy: 'OnFailure' })));
    await api.create(path, job('a', { ...policy(codes([1])), podReplacementPolicy: 'TerminatingOrFailed' }));
  },
  'a policy of success is checked': async (api) => {
    const policy = (...rules: readonly object[]): object => ({ successPolicy: { rules } });
    await api.create(path, indexed('good', policy({ succeededIndexes: '0,1-2', succeededCount: 2 })));
    await api.create(path, indexed('a', policy()));
    await api.create(path, indexed('a', policy({})));
    await api.create(path, indexed('a', policy({ succeededCount: 4 })));
    await api.create(path, indexed('a', policy({ succeededIndexes: '0-1', succeededCount: 3 })));
    for (const succeededIndexes of ['3', '1-0', '0,0', 'x', '0-1-2', '1-3']) {
      await api.create(path, indexed('a', policy({ succeededIndexes })));
    }
    await api.create(path, job('a', policy({ succeededCount: 1 })));
  },
  'what a job asks for stays': async (api) => {
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
  'the pods of a suspended job may be sent elsewhere': async (api) => {
    const elsewhere = { spec: { template: { spec: { nodeSelector: { zone: 'b' } } } } };
    const view = ({ reason, spec }: any): unknown => reason ?? spec.template.spec.nodeSelector;
    await api.givenCreated(path, job('a', { suspend: true }));
    await api.merge(`${path}/a`, elsewhere, { view });
    await api.givenCreated(path, job('b'));
    await api.merge(`${path}/b`, elsewhere, { view });
  },
  'what is said of a job is checked': async (api) => {
    await api.givenCreated(path, indexed('a'));
    const say = (status: object): Promise<unknown> => api.merge(`${path}/a/status`, { status });
    await say({ active: 2, ready: 3 });
    await say({ active: -1 });
    await say({ completedIndexes: '1,0' });
    await say({ completedIndexes: '7' });
    await say({ failedIndexes: '1' });
    await say({ completionTime: end });
    await say({ startTime: start, conditions: [condition('Complete')], completionTime: end });
    await say({ startTime: start, conditions: [condition('Failed')] });
    await say({ startTime: start, conditions: [condition('SuccessCriteriaMet'), condition('FailureTarget')] });
    await say({ uncountedTerminatedPods: { succeeded: ['x', 'x'] } });
    await say({ startTime: start, active: 1, ready: 1, uncountedTerminatedPods: {} });
    await say({ startTime: end });
    const complete = [condition('SuccessCriteriaMet'), condition('Complete')];
    await say({ conditions: complete, completionTime: end });
    await say({ active: null, ready: 0, conditions: complete, completionTime: start.replace('2020', '2019') });
    await say({
      active: null,
      ready: 0,
      conditions: complete,
      completionTime: end,
      succeeded: 3,
      completedIndexes: '0-2',
    });
    await say({ conditions: [] });
    await say({ succeeded: 2, failed: 1 });
    await say({ failed: null });
    await api.get(path, { accept: table, view: (list) => list.rows.map((row: any) => row.cells.slice(0, 4)) });
  },
};
