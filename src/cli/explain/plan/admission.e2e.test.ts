import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PlanResult } from '../../../api/explain/lists.ts';
import { poll } from '../../../../test/planes/poll.ts';
import { addNodes } from '../../../../test/planes/real/add-nodes.ts';
import { planeForSuite } from '../../../../test/planes/real/plane-for-suite.ts';
import { provideForSuite } from '../../../../test/planes/real/provide-real-plane.ts';
import { CommandInProcess } from '../../testing/command-in-process.ts';

const programs = await provideForSuite('the admission of a plan', ['etcd', 'kube-apiserver']);
const namespace = 'ml';

describe.skipIf(programs.state === 'missing')('tutti plan and the admission of a real API server', () => {
  const plane = planeForSuite(programs);
  let folder: string;
  let files = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tutti-admission-'));
    const { client } = plane();
    await addNodes(client, [{ name: 'n1', allocatable: { cpu: '4', memory: '8Gi' } }], { kwok: false });
    await client.create('/api/v1/namespaces', { metadata: { name: namespace } });
    await client.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } });
    await client.create('/apis/scheduling.k8s.io/v1/priorityclasses', {
      metadata: { name: 'urgent' },
      value: 700,
    });
    await client.create(`/api/v1/namespaces/${namespace}/limitranges`, {
      metadata: { name: 'defaults' },
      spec: { limits: [{ type: 'Container', defaultRequest: { cpu: '3' }, default: { cpu: '3' } }] },
    });
  });

  afterAll(() => rm(folder, { recursive: true }));

  async function planned(...pods: readonly object[]): Promise<PlanResult & { readonly exitCode: number }> {
    const path = join(folder, `${files++}.yaml`);
    await writeFile(path, pods.map((pod) => JSON.stringify(pod)).join('\n---\n'));
    const flags = ['--kubeconfig', plane().kubeconfigPath, '--namespace', namespace, '--output', 'json'];
    const command = new CommandInProcess(['plan', '--file', path, ...flags]);
    const exitCode = await command.ended;
    expect(command.stderr).toBe('');
    return { ...(JSON.parse(command.stdout) as PlanResult), exitCode };
  }

  function pod(name: string, more: object = {}, resources: object = {}): object {
    const containers = [{ name: 'main', image: 'x', resources }];
    return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { schedulerName: 'tutti', containers, ...more } };
  }

  it('WI11: uses the requests of a LimitRange and the priority of a class', async () => {
    const { items, admission, exitCode } = await planned(
      pod('first'),
      pod('second', { priorityClassName: 'urgent' }),
      pod('small', {}, { requests: { cpu: '500m' } }),
    );
    expect(admission).toBe('dryRun');
    // The second comes first in the queue, and two do not fit with 3 CPUs each.
    expect(items.map(({ subject, fits }) => [subject.name, fits])).toEqual([
      ['first', false],
      ['second', true],
      ['small', true],
    ]);
    expect(items[0]!.explanation?.blocker?.requests).toMatchObject({ cpu: '3' });
    expect(exitCode).toBe(5);
    expect((await plane().client.list(`/api/v1/namespaces/${namespace}/pods`)).items).toEqual([]);
  });

  it('WI13: says that a ResourceQuota is exceeded, and plans the rest', async () => {
    const { client } = plane();
    const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
    await client.create(path, { metadata: { name: 'team' }, spec: { hard: { 'requests.cpu': '1' } } });
    // No controller is there to do it.
    const hard = { 'requests.cpu': '1' };
    await client.patch(`${path}/team/status`, 'merge', { status: { hard, used: { 'requests.cpu': '0' } } });
    const big = pod('big', {}, { requests: { cpu: '2' } });
    await poll(
      async () => ((await planned(big)).errors.length > 0 ? undefined : 'it is not'),
      'the quota is in effect',
    );
    const { items, errors, exitCode } = await planned(big, pod('small', {}, { requests: { cpu: '500m' } }));
    expect(errors).toEqual([
      {
        part: expect.stringContaining('Pod ml/big') as string,
        message: expect.stringContaining(
          'exceeded quota: team, requested: requests.cpu=2, used: requests.cpu=0',
        ) as string,
      },
    ]);
    expect(items).toMatchObject([{ subject: { name: 'small' }, fits: true }]);
    expect(exitCode).toBe(5);
  });
});
