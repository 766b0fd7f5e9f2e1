import { dirname } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestProcess } from '../../src/cli/testing/test-process.ts';
import { claimBlocks } from '../docs/block-claims.ts';
import { consoleCommandsOf, outputsOf, transcriptsOf } from '../docs/console-blocks.ts';
import { kubectlPath } from '../planes/kubectl.ts';
import { poll } from '../planes/poll.ts';
import { planeForSuite } from '../planes/real/plane-for-suite.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';

const programs = await provideForSuite('Tutti as the default scheduler', [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kwok',
]);

// The first command stops kube-scheduler, which does not run here.
const [, start, ...commands] = consoleCommandsOf(claimBlocks('examples/default-scheduler/README.md', 'console'));

describe.skipIf(programs.state === 'missing')('Tutti on a real plane without kube-scheduler', () => {
  const plane = planeForSuite(programs, { controllerManager: true, kwok: true });
  let scheduler: TestProcess;

  beforeAll(async () => {
    await plane().addNodes(
      [1, 2, 3].map((number) => ({ name: `node-${number}`, allocatable: { cpu: '2', memory: '4Gi' } })),
    );
    const [, ...parameters] = start!.command.replace(/ &$/, '').split(' ');
    scheduler = new TestProcess([...parameters, '--kubeconfig', plane().kubeconfigPath, '--secure-port', '0']);
    await scheduler.said(/ scheduling schedulerNames=/);
  });

  afterAll(async () => {
    await scheduler?.kill();
  });

  /** Waits until the field of the status has that value. */
  async function expectStatus(path: string, field: string, count: number): Promise<void> {
    const check = async (): Promise<string | undefined> => {
      const { status } = await plane().client.get<{ readonly status?: Readonly<Record<string, unknown>> }>(path);
      return status?.[field] === count ? undefined : `status is ${JSON.stringify(status)}`;
    };
    await poll(check, `${path} has ${field} ${count}`);
  }

  it('runs Deployments, Jobs, DaemonSets and StatefulSets', async () => {
    const environment = {
      HOME: plane().folder,
      KUBECONFIG: plane().kubeconfigPath,
      PATH: `${dirname(await kubectlPath())}:${process.env.PATH}`,
    };
    const [applied, ...others] = commands;
    const outputs = await outputsOf([applied!], environment, process.cwd());
    await expectStatus('/apis/apps/v1/namespaces/default/deployments/web', 'availableReplicas', 3);
    await expectStatus('/apis/apps/v1/namespaces/default/daemonsets/agent', 'numberReady', 3);
    await expectStatus('/apis/apps/v1/namespaces/default/statefulsets/store', 'readyReplicas', 2);
    await expectStatus('/apis/batch/v1/namespaces/default/jobs/report', 'succeeded', 2);
    outputs.push(...(await outputsOf(others, environment, process.cwd())));
    const { printed, expected } = transcriptsOf(commands, outputs);
    expect(printed).toEqual(expected);
    const { items } = await plane().client.list('/api/v1/namespaces/default/pods');
    const names = (items as { readonly spec: { readonly schedulerName: string } }[]).map(
      ({ spec }) => spec.schedulerName,
    );
    expect(names).toHaveLength(10);
    expect(new Set(names)).toEqual(new Set(['default-scheduler']));
    // One agent per node, on the node that its DaemonSet selects.
    const agents = (items as any[]).filter(({ metadata }) => metadata.labels.app === 'agent');
    expect(new Set(agents.map(({ spec }) => spec.nodeName))).toEqual(new Set(['node-1', 'node-2', 'node-3']));

    // A cordoned node gets none of the additional replicas.
    await plane().client.patch('/api/v1/nodes/node-3', 'merge', { spec: { unschedulable: true } });
    await plane().client.patch('/apis/apps/v1/namespaces/default/deployments/web', 'merge', { spec: { replicas: 6 } });
    await expectStatus('/apis/apps/v1/namespaces/default/deployments/web', 'availableReplicas', 6);
    const replicas = await plane().client.list('/api/v1/namespaces/default/pods');
    const before = new Set((items as any[]).map(({ metadata }) => metadata.name));
    const added = (replicas.items as any[]).filter(({ metadata }) => !before.has(metadata.name));
    expect(added.map(({ spec }) => spec.nodeName)).not.toContain('node-3');
  });
});
