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
