import { beforeEach, describe, expect, it } from 'vitest';
import type { StatusItem, StatusList } from '../../../api/explain/lists.ts';
import { podGroupPath } from '../../../api/pod-group.ts';
import type { PodGroupStatus } from '../../../api/pod-group.ts';
import { cpuMsOf } from '../../../../test/expect/cpu-ms.ts';
import { ForbiddenError } from '../../../client/api-errors.ts';
import { ListedCluster } from '../../../compose/cluster-state/testing/listed-cluster.ts';
import { Builders } from '../../../testkit/builders/builders.ts';
import type { PodOptions } from '../../../testkit/builders/pod.ts';
import { loadStatus } from './load-status.ts';
import type { StatusOptions } from './load-status.ts';

const now = Date.UTC(2026, 5, 1);
const since = '2026-05-31T23:00:00Z';
let build: Builders;
let cluster: ListedCluster;

beforeEach(() => {
  build = new Builders();
  cluster = new ListedCluster().set(podGroupPath()).set('/api/v1/pods');
});

const load = (options: Partial<StatusOptions> = {}): Promise<StatusList> =>
  loadStatus({ client: cluster, namespace: undefined, subjects: [], now, ...options });

async function only(options?: Partial<StatusOptions>): Promise<StatusItem> {
  const { items } = await load(options);
  expect(items).toHaveLength(1);
  return items[0]!;
}

const scheduled = (status: string, reason: string, message = ''): PodGroupStatus =>
  ({ conditions: [{ type: 'Scheduled', status, reason, message, lastTransitionTime: since }] }) as PodGroupStatus;

function red(status: PodGroupStatus | undefined, ...pods: readonly PodOptions[]): void {
  cluster.set(podGroupPath(), build.podGroup({ name: 'red', minMember: 2, ...(status && { status }) }));
  cluster.set('/api/v1/pods', ...pods.map((pod, i) => build.pod({ name: `red-${i}`, group: 'red', ...pod })));
}

const on = { nodeName: 'a' };
const rejected = (message: string): PodOptions => ({
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime: since }],
});
const boundAt = (time: string): PodOptions => ({
  ...on,
  conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: time }],
});

describe('the state of a group', () => {
  it('is Waiting with the verdict of its condition', async () => {
    red(scheduled('False', 'Unschedulable', '0/3 nodes are available: 3 Insufficient cpu.'), {}, {});
    expect(await only()).toMatchObject({
      subject: { kind: 'PodGroup', source: 'scheduling.x-k8s.io', namespace: 'default', name: 'red' },
      ...{ state: 'Waiting', waitsFor: 'capacity', bound: 0, minMember: 2, size: 2, since },
      message: '0/3 nodes are available: 3 Insufficient cpu.',
    });
  });

  it('is Waiting with the verdict of a member if no controller has written a status', async () => {
    red(undefined, rejected('It would not fit even if all other pods were gone.'), {});
    expect(await only()).toMatchObject({ state: 'Waiting', waitsFor: 'never' });
  });

  it('is Waiting for something unknown before the first attempt', async () => {
    red(undefined, {}, {});
    expect(await only()).toMatchObject({ state: 'Waiting', waitsFor: 'unknown', message: '' });
  });

  it.each<[string, readonly PodOptions[], Partial<StatusItem>]>([
    ['Running once its quorum is bound', [on, on, {}], { state: 'Running', bound: 2, size: 3 }],
    ['Partial while fewer are bound', [on, rejected('full')], { state: 'Partial', bound: 1 }],
    ['Partial if the rest has no verdict, but the Binding is long ago', [boundAt(since), {}], { state: 'Partial' }],
    ['Starting shortly after a Binding', [boundAt('2026-05-31T23:59:58Z'), {}], { state: 'Starting', bound: 1 }],
    [
      'Finished once all have ended',
      [
        { ...on, phase: 'Succeeded' },
        { ...on, phase: 'Failed' },
      ],
      { state: 'Finished' },
    ],
    [
      'Waiting if its bound members are of an earlier group',
      [{ ...on, annotations: { 'tutti.dev/pod-group-uid': 'old' } }],
      { state: 'Waiting', bound: 0, size: 0 },
    ],
  ])('is %s', async (_, pods, expected) => {
    red(undefined, ...pods);
    expect(await only()).toMatchObject(expected);
  });

  it('is Degraded if it has started and fewer than its quorum are bound', async () => {
    const started = {
      type: 'Started',
      status: 'True',
      reason: 'QuorumReached',
      message: '',
      lastTransitionTime: since,
    };
    const incomplete = {
      ...started,
      type: 'Incomplete',
      reason: 'MemberLost',
      message: '1 member is scheduled, 2 are needed',
    };
    red({ conditions: [started, incomplete] } as PodGroupStatus, on);
    expect(await only()).toMatchObject({ state: 'Degraded', bound: 1, since, message: incomplete.message });
  });

  it('is derived alike for PodGroups of Kubernetes', async () => {
    cluster.set('/apis/scheduling.k8s.io/v1alpha3/podgroups', build.nativePodGroup({ name: 'green', minCount: 2 }));
    cluster.set('/api/v1/pods', ...[0, 1].map((i) => build.pod({ name: `g-${i}`, schedulingGroup: 'green', ...on })));
    expect(await only()).toMatchObject({ subject: { source: 'scheduling.k8s.io', name: 'green' }, state: 'Running' });
  });

  it('is Waiting for members if pods name a group that does not exist', async () => {
    cluster.set(
      '/api/v1/pods',
      build.pod({
        name: 'x',
        group: 'gone',
        conditions: [
          {
            type: 'PodScheduled',
            status: 'False',
            reason: 'WaitingForGang',
            message: 'PodGroup default/gone does not exist',
          },
        ],
      }),
    );
    expect(await only()).toMatchObject({ subject: { name: 'gone' }, state: 'Waiting', waitsFor: 'members', size: 1 });
  });
});

describe('the list', () => {
  it('WI25: of 10,000 groups takes less than three seconds', async () => {
    cluster.set(podGroupPath(), ...Array.from({ length: 10_000 }, (_, i) => build.podGroup({ name: `g-${i}` })));
    cluster.set(
      '/api/v1/pods',
      ...Array.from({ length: 20_000 }, (_, i) => build.pod({ name: `p-${i}`, group: `g-${i % 10_000}`, ...on })),
    );
    const cpuMs = await cpuMsOf(async () => expect((await load()).totals).toEqual({ Running: 10_000 }));
    expect(cpuMs).toBeLessThan(3_000);
  });

  it('has the urgent states first, then namespace and name, and counts them', async () => {
    cluster.set(podGroupPath(), ...['run', 'b', 'a', 'part'].map((name) => build.podGroup({ name, minMember: 2 })));
    cluster.set(
      '/api/v1/pods',
      ...['run-0', 'run-1', 'part-0'].map((name) => build.pod({ name, group: name.slice(0, -2), ...on })),
    );
    const { items, totals } = await load();
    expect(items.map(({ subject }) => subject.name)).toEqual(['part', 'a', 'b', 'run']);
    expect(totals).toEqual({ Partial: 1, Waiting: 2, Running: 1 });
  });

  it('has single pods of the given schedulers on demand', async () => {
    cluster.set(
      '/api/v1/pods',
      build.pod({ name: 'ours', schedulerName: 'tutti', ...rejected('0/1 nodes are available') }),
      build.pod({ name: 'other', schedulerName: 'x' }),
    );
    expect((await load()).items).toEqual([]);
    expect(await only({ podsOf: ['tutti'] })).toMatchObject({
      subject: { kind: 'Pod', name: 'ours' },
      state: 'Waiting',
      waitsFor: 'unknown',
    });
    expect(await only({ subjects: [{ kind: 'Pod', name: 'other' }] })).toMatchObject({ subject: { name: 'other' } });
  });

  it('names what the user asked for and what does not exist', async () => {
    red(undefined);
    const { items, errors } = await load({ subjects: [{ name: 'red' }, { kind: 'Pod', name: 'x' }] });
    expect(items).toHaveLength(1);
    expect(errors).toEqual([{ part: 'pod/x', message: 'not found' }]);
  });

  it('KP14: shows the rest if the caller may not list one kind', async () => {
    red(undefined, on, on);
    cluster.forbid('/apis/scheduling.k8s.io/v1beta1/podgroups');
    const { items, errors } = await load();
    expect(items).toMatchObject([{ state: 'Running' }]);
    expect(errors).toMatchObject([{ part: 'podgroups.scheduling.k8s.io' }]);
  });

  it('reports nothing of a kind that the API server denies because it does not serve it', async () => {
    red(undefined, on, on);
    const list = cluster.list.bind(cluster);
    const native = '/apis/scheduling.k8s.io/v1beta1/podgroups';
    const denied = { status: 403, reason: 'Forbidden', request: `GET ${native}`, causes: [] };
    cluster.list = (path, options) =>
      path.startsWith('/apis/scheduling.k8s.io/')
        ? Promise.reject(new ForbiddenError('forbidden', denied))
        : list(path, options);
    expect((await load()).errors).toEqual([]);
  });

  it('says that the CRD is absent beside the groups of Kubernetes', async () => {
    cluster.collections.delete(podGroupPath());
    cluster.set('/apis/scheduling.k8s.io/v1beta1/podgroups', build.nativePodGroup({ name: 'green' }));
    const { items, errors } = await load();
    expect(items).toHaveLength(1);
    expect(errors).toMatchObject([{ message: expect.stringContaining('does not serve PodGroups') as string }]);
  });

  it('reads the states from the groups alone if the caller may not list pods', async () => {
    red({ members: 4, scheduled: 1 }, on);
    cluster.forbid('/api/v1/pods');
    const { items, basis } = await load();
    expect(items).toMatchObject([{ state: 'Partial', bound: 1, size: 4 }]);
    expect(basis.unknowns).toContain('hiddenPods');
  });
});
