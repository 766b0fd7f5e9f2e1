import { beforeAll, describe, expect, it } from 'vitest';
import { poll } from '../poll.ts';
import { planeForSuite } from './plane-for-suite.ts';
import { provideForSuite } from './provide-real-plane.ts';

const programs = await provideForSuite('a plane with controllers, kwok and another scheduler', [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kwok',
]);

describe.skipIf(programs.state === 'missing')('Real plane with kube-controller-manager and kwok', () => {
  const plane = planeForSuite(programs, { controllerManager: true, kwok: true });

  beforeAll(async () => {
    await plane().addNodes([
      { name: 'first', allocatable: { cpu: '4', memory: '8Gi' } },
      { name: 'tainted', allocatable: { cpu: '4' }, taints: [{ key: 'reserved', effect: 'NoSchedule' }] },
    ]);
  });

  it('has ready nodes that keep only their own taints', async () => {
    const { items } = await plane().client.list('/api/v1/nodes');
    expect(items).toMatchObject([
      { metadata: { name: 'first' }, spec: {} },
      { metadata: { name: 'tainted' }, spec: { taints: [{ key: 'reserved', effect: 'NoSchedule' }] } },
    ]);
    expect(items[0]).not.toHaveProperty('spec.taints');
  });

  it('lets a deleted pod end at once, or after its grace period if its preStop hook sleeps', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const create = async (name: string, lifecycle?: object): Promise<void> => {
      await plane().client.create(pods, {
        metadata: { name },
        spec: {
          nodeName: 'first',
          terminationGracePeriodSeconds: 600,
          containers: [{ name: 'main', image: 'main', ...(lifecycle && { lifecycle }) }],
        },
      });
      await plane().client.delete(`${pods}/${name}`);
    };
    await create('sleeps', { preStop: { sleep: { seconds: 599 } } });
    await create('ends');
    await poll(async () => {
      const { items } = await plane().client.list(pods);
      const names = (items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
      return names.includes('ends') ? `there are ${names.join(', ')}` : undefined;
    }, 'the pod without a hook is gone');
    expect(await plane().client.get(`${pods}/sleeps`)).toHaveProperty('metadata.deletionTimestamp');
    await plane().client.delete(`${pods}/sleeps`, { gracePeriodSeconds: 0 });
  });

  it('adds an extended resource of the capacity to what is allocatable, and removes it', async () => {
    const path = '/api/v1/nodes/first';
    const hasAllocatable = (amount: string | undefined): Promise<void> =>
      poll(
        async () => {
          const { status } = await plane().client.get<{ status: { allocatable: Record<string, string> } }>(path);
          return status.allocatable['example.com/device'] === amount ? undefined : JSON.stringify(status.allocatable);
        },
        `${amount ?? 'nothing'} is allocatable`,
      );
    await plane().client.patch(`${path}/status`, 'merge', { status: { capacity: { 'example.com/device': '5' } } });
    await hasAllocatable('5');
    await plane().client.patch(`${path}/status`, 'merge', { status: { capacity: { 'example.com/device': null } } });
    await hasAllocatable(undefined);
  });

  it('runs a Job to its end through another scheduler', async () => {
    await plane().startPeer('kube-scheduler', { schedulerName: 'default-scheduler', qps: 50, burst: 100 });
    const jobs = '/apis/batch/v1/namespaces/default/jobs';
    await plane().client.create(jobs, {
      metadata: { name: 'pair' },
      spec: {
        parallelism: 2,
        completions: 2,
        template: {
          metadata: { annotations: { 'tutti-tests/run-duration': '100ms' } },
          spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'main' }] },
        },
      },
    });
    await poll(async () => {
      const { status } = await plane().client.get<{ status: { succeeded?: number } }>(`${jobs}/pair`);
      return status.succeeded === 2 ? undefined : JSON.stringify(status);
    }, 'both pods have succeeded');
    const { items } = await plane().client.list('/api/v1/namespaces/default/pods');
    expect(items).toMatchObject([{ spec: { nodeName: 'first' } }, { spec: { nodeName: 'first' } }]);
    await plane().stopPeer('kube-scheduler');
    expect(plane().pid('kube-scheduler')).toBeUndefined();
  });
});
