import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podGroupLabel } from '../../src/api/pod-group-membership.ts';
import { podGroupPath } from '../../src/api/pod-group.ts';
import { openEmbeddedPlane } from '../planes/embedded.ts';
import { helmVersions } from '../planes/kubectl.ts';
import type { TestPlane } from '../planes/plane.ts';
import { poll } from '../planes/poll.ts';
import { ChartRelease } from './installed-chart.ts';
import { ProcessNode } from './process-node.ts';
import { deployment } from './rendered-chart.ts';

/** The chart's processes run here, with its arguments, its configuration and the rights of its ServiceAccounts. */
describe.each(helmVersions)('the chart on the embedded plane, with Helm %s', (version) => {
  let plane: TestPlane;
  let folder: string;
  let tutti: ChartRelease;
  let node: ProcessNode;

  beforeAll(async () => {
    plane = await openEmbeddedPlane();
    folder = await mkdtemp(join(tmpdir(), 'tutti-chart-'));
    tutti = new ChartRelease({ ...plane, folder }, 'tutti', 'tutti-system');
    const amounts = { cpu: '4', memory: '8Gi', pods: '10' };
    await plane.client.create('/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1' },
      status: { allocatable: amounts, capacity: amounts },
    });
    node = await ProcessNode.start({ ...plane, folder }, 'n1', tutti.namespace);
    const { items } = await plane.client.list('/apis/apiextensions.k8s.io/v1/customresourcedefinitions');
    // The plane has it already, which is that of no release.
    for (const { metadata } of items as { metadata: { name: string } }[]) {
      await plane.client.delete(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${metadata.name}`);
    }
  });

  afterAll(async () => {
    await tutti.stop();
    await node.stop();
    await plane.stop();
    await rm(folder, { recursive: true });
  });

  const succeeds = ({ exitCode, stderr }: { readonly exitCode: number; readonly stderr: string }): void =>
    expect([exitCode, stderr]).toEqual([0, expect.any(String)]);

  const replicas = async (): Promise<number> => {
    const { spec } = deployment(await tutti.manifests(version), 'scheduler') as { spec: { replicas?: number } };
    return spec.replicas ?? 1;
  };

  it('is installed, and a gang starts whole under its rights', async () => {
    succeeds(await tutti.install(version, { scheduler: { replicaCount: 2 } }));
    const processes = [await tutti.run('scheduler', version), await tutti.run('controller', version)];
    await processes[0]!.said(/"message":"scheduling"/);
    await plane.client.create(podGroupPath('default'), {
      apiVersion: 'scheduling.x-k8s.io/v1alpha1',
      kind: 'PodGroup',
      metadata: { name: 'red' },
      spec: { minMember: 2 },
    });
    for (const name of ['red-0', 'red-1']) {
      await plane.client.create('/api/v1/namespaces/default/pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, labels: { [podGroupLabel]: 'red' } },
        spec: { schedulerName: 'tutti', containers: [{ name: 'main', image: 'main:1' }] },
      });
    }
    await poll(async () => {
      const { status = {} } = await plane.client.get<{ readonly status?: { readonly scheduled?: number } }>(
        podGroupPath('default', 'red'),
      );
      return status.scheduled === 2 ? undefined : JSON.stringify(status);
    }, 'the controller says that both members are scheduled');
  });

  it('passes helm test, whose pod runs here as a process', async () => {
    const { exitCode, stdout, stderr } = await tutti.test(version);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/TEST SUITE: +tutti-test\n(.*\n)*Phase: +Succeeded/);
    const [verify] = node.ended.filter(({ name }) => name === 'tutti-test');
    expect(verify!.exitCode).toBe(0);
    expect(verify!.stdout).toMatch(/^ok .*\nok .*\nok {5}a gang of 2 for tutti was bound to n1 within/);
  });

  it('is upgraded and rolled back', async () => {
    succeeds(await tutti.upgrade(version, { scheduler: { replicaCount: 3 } }));
    expect(await replicas()).toBe(3);
    succeeds(await tutti.rollback(version, 1));
    expect(await replicas()).toBe(2);
  });

  it('does not pass helm test when nobody schedules', async () => {
    expect(await tutti.stop()).toEqual([]);
    const { exitCode, stderr } = await tutti.test(version, '--timeout', '3s');
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/pod tutti-test|deadline exceeded|timed out/);
    expect(node.ended.filter((pod) => pod.name === 'tutti-test' && pod.exitCode === 0)).toHaveLength(1);
  });

  it('leaves the groups when it is uninstalled', async () => {
    succeeds(await tutti.uninstall(version));
    await plane.client.get(podGroupPath('default', 'red'));
    await expect(plane.client.get('/apis/apps/v1/namespaces/tutti-system/deployments/tutti-scheduler')).rejects.toThrow(
      'not found',
    );
  });
});
