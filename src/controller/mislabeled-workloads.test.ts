import { beforeEach, describe, expect, it } from 'vitest';
import type { LabeledKind } from '../api/mislabeled-workload.ts';
import { podGroupLabel } from '../api/pod-group-membership.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { ForbiddenError, GoneError, NotFoundError, ServerError } from '../client/api-errors.ts';
import type { ListOptions, ListPage } from '../client/kube-client.ts';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import { MislabeledWorkloads } from './mislabeled-workloads.ts';
import { WorkQueueMetrics } from './work-queue/work-queue-metrics.ts';

const details = { status: 0, reason: '', request: '', causes: [] };

let clock: VirtualClock;
let workloads: MislabeledWorkloads;
/** Path and selector of each list, in order. */
let lists: string[];
/** Maximum number of items of each list. */
let limits: number[];
let changed: string[];
let infos: string[];
/** path -> its items, or the error */
let answers: Map<string, readonly object[] | Error>;

beforeEach(() => {
  clock = new VirtualClock();
  [lists, limits, changed, infos] = [[], [], [], []];
  answers = new Map();
  workloads = new MislabeledWorkloads({
    client: { list: (path, options) => answer(path, options!) },
    clock,
    random: () => 1,
    logger: { ...silentLogger, info: (message) => void infos.push(message) },
    metrics: new WorkQueueMetrics(createMetricRegistry({ processMetrics: false })),
    onChange: (key) => void changed.push(key),
  });
});

async function answer(path: string, options: ListOptions): Promise<ListPage> {
  const { labelSelector, limit = Infinity, continueToken = '0' } = options;
  lists.push(`${path.replace(/^.*namespaces\//, '')} ${labelSelector}`);
  limits.push(limit);
  const found = answers.get(path) ?? [];
  if (found instanceof Error) throw found;
  const end = Number(continueToken) + limit;
  const items = found.slice(Number(continueToken), end);
  return Promise.resolve({ items, resourceVersion: '1', ...(end < found.length && { continueToken: String(end) }) });
}

const pathOf = (kind: LabeledKind, namespace = 'ns'): string =>
  `/apis/${kind === 'Job' ? 'batch' : 'apps'}/v1/namespaces/${namespace}/${kind.toLowerCase()}s`;

function workload(name: string, group: string, template: object = {}): object {
  return { metadata: { name, labels: { [podGroupLabel]: group } }, spec: { template: { metadata: template } } };
}

async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await new Promise((resolve) => setImmediate(resolve));
}

describe('a workload with the label of a group that lacks members', () => {
  const kinds = ['Job', 'Deployment', 'StatefulSet'] as const;

  it.each(kinds)('is found if its pod template lacks the label: %s', async (kind) => {
    answers.set(pathOf(kind), [workload('train', 'red')]);
    workloads.lacksMembers('ns', 'red', true);
    await pass(2_999);
    expect(lists).toEqual([]);
    await pass(1);
    expect(workloads.of('ns', 'red')).toEqual({ kind, name: 'train', group: 'red' });
    expect(changed).toEqual(['ns/red']);
    const read = ['jobs', 'deployments', 'statefulsets'].slice(0, kinds.indexOf(kind) + 1);
    expect(lists).toEqual(read.map((plural) => `ns/${plural} ${podGroupLabel} in (red)`));
  });

  it('is not found if its pod template has the label or the annotation', async () => {
    const named = { [podGroupLabel]: 'red' };
    answers.set(pathOf('Job'), [workload('a', 'red', { labels: named }), workload('b', 'red', { annotations: named })]);
    workloads.lacksMembers('ns', 'red', true);
    await pass(3_000);
    expect([workloads.of('ns', 'red'), changed]).toEqual([undefined, []]);
  });

  it('is not looked for once the group has its members', async () => {
    workloads.lacksMembers('ns', 'red', true);
    workloads.lacksMembers('ns', 'red', false);
    workloads.podChanged('ns');
    await pass(60_000);
    expect(lists).toEqual([]);
  });
});

describe('looks', () => {
  it('are repeated when pods come or go, at most every 10 s per namespace', async () => {
    workloads.lacksMembers('ns', 'red', true);
    await pass(3_000);
    await pass(600_000);
    expect(lists).toHaveLength(3);
    answers.set(pathOf('Job'), [workload('train', 'red')]);
    for (let second = 0; second < 30; second++) {
      workloads.podChanged('ns');
      await pass(1_000);
    }
    expect(workloads.of('ns', 'red')?.name).toBe('train');
    expect(lists.length / 3).toBeLessThanOrEqual(4);
    answers.delete(pathOf('Job'));
    await pass(20_000);
    expect(workloads.of('ns', 'red')).toBeUndefined();
    expect(changed).toEqual(['ns/red', 'ns/red']);
  });

  it('cover all groups of the namespace, 50 at a time, and no name that a label cannot have', async () => {
    for (let index = 0; index < 60; index++) workloads.lacksMembers('ns', `group-${index}`, true);
    workloads.lacksMembers('ns', 'x'.repeat(64), true);
    workloads.lacksMembers('other', 'red', true);
    await pass(3_000);
    await pass(600_000);
    const names = lists.filter((list) => list.startsWith('ns/jobs')).map((list) => list.split(',').length);
    expect(names).toEqual([50, 10]);
    expect(lists.join()).not.toContain('xxx');
    expect(new Set(lists.join().match(/group-\d+/g)).size).toBe(60);
    expect(lists.filter((list) => list.startsWith('other/'))).toHaveLength(3);
  });

  it('skip kinds that the process may not list, and log that once', async () => {
    answers.set(pathOf('Job'), new ForbiddenError('no', details));
    answers.set(pathOf('Deployment'), new NotFoundError('no such kind', details));
    answers.set(pathOf('StatefulSet'), [workload('train', 'red')]);
    workloads.lacksMembers('ns', 'red', true);
    await pass(3_000);
    workloads.podChanged('ns');
    await pass(10_000);
    expect(workloads.of('ns', 'red')?.kind).toBe('StatefulSet');
    expect(infos).toHaveLength(1);
  });

  it('are retried after a failure', async () => {
    answers.set(pathOf('Job'), new ServerError('not now', { ...details, status: 500 }));
    workloads.lacksMembers('ns', 'red', true);
    await pass(3_000);
    answers.set(pathOf('Job'), [workload('train', 'red')]);
    await pass(10_000);
    expect(workloads.of('ns', 'red')?.name).toBe('train');
  });

  it('find out that a workload without pods is gone', async () => {
    answers.set(pathOf('Job'), [workload('train', 'red')]);
    workloads.lacksMembers('ns', 'red', true);
    await pass(3_000);
    answers.delete(pathOf('Job'));
    await pass(60_000);
    expect(workloads.of('ns', 'red')).toBeUndefined();
    expect(changed).toEqual(['ns/red', 'ns/red']);
    await pass(600_000);
    expect(lists).toHaveLength(4);
  });

  it('continue where the look before has stopped', async () => {
    const labeled = { labels: { [podGroupLabel]: 'red' } };
    const correct = Array.from({ length: 500 }, (_, index) => workload(`job-${index}`, 'red', labeled));
    answers.set(pathOf('Job'), [...correct, workload('train', 'red')]);
    answers.set(pathOf('Deployment'), [workload('web', 'red')]);
    workloads.lacksMembers('ns', 'red', true);
    await pass(3_000);
    const first = lists.length;
    expect(first).toBeLessThanOrEqual(12);
    for (let look = 0; look < 8; look++) await pass(10_000);
    expect(workloads.of('ns', 'red')).toEqual({ kind: 'Job', name: 'train', group: 'red' });
    expect(changed).toEqual(['ns/red']);
    expect(lists).toHaveLength(51);
  });

  it('end when the API server has forgotten where they stopped', async () => {
    answers.set(
      pathOf('Job'),
      Array.from({ length: 500 }, (_, index) =>
        workload(`job-${index}`, 'red', { labels: { [podGroupLabel]: 'red' } }),
      ),
    );
    answers.set(pathOf('Deployment'), [workload('web', 'red')]);
    workloads.lacksMembers('ns', 'red', true);
    await pass(3_000);
    answers.set(pathOf('Job'), new GoneError('expired', { ...details, status: 410 }));
    await pass(10_000);
    expect(workloads.of('ns', 'red')?.name).toBe('web');
  });

  it('skip a group whose name no object can have', async () => {
    for (const name of ['a..b', 'a-.b', 'Red']) workloads.lacksMembers('ns', name, true);
    await pass(3_000);
    expect(lists).toEqual([]);
  });

  it('are at most one in 10 s for a namespace whose only group is created again and again', async () => {
    for (let second = 0; second < 60; second++) {
      workloads.lacksMembers('ns', `group-${second}`, true);
      await pass(500);
      if (second % 5 === 4)
        for (let made = 0; made <= second; made++) workloads.lacksMembers('ns', `group-${made}`, false);
      await pass(500);
    }
    expect(lists.length / 3).toBeLessThanOrEqual(6);
  });

  it('cover all groups of the namespace when pods come or go', async () => {
    for (let index = 0; index < 120; index++) workloads.lacksMembers('ns', `group-${index}`, true);
    await pass(3_000);
    for (let look = 0; look < 10; look++) await pass(10_000);
    answers.set(pathOf('Job'), [workload('train', 'group-119')]);
    workloads.podChanged('ns');
    for (let look = 0; look < 10; look++) await pass(10_000);
    expect(workloads.of('ns', 'group-119')?.name).toBe('train');
  });

  it('read a few workloads at a time, because each can be as long as an object of the API', async () => {
    answers.set(
      pathOf('Job'),
      Array.from({ length: 10_000 }, (_, index) => workload(`job-${index}`, `group-${index % 50}`)),
    );
    for (let index = 0; index < 50; index++) workloads.lacksMembers('ns', `group-${index}`, true);
    await pass(3_000);
    await pass(0);
    expect(Math.max(...limits)).toBeLessThanOrEqual(10);
    expect(lists.length).toBeLessThanOrEqual(12);
    expect(workloads.of('ns', 'group-49')?.name).toBe('job-49');
  });
});
