import { statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../base/system-clock.ts';
import { podGroupPath } from '../../../api/pod-group.ts';
import { HttpTransport } from '../../../client/http/http-transport.ts';
import { KubeClient } from '../../../client/kube-client.ts';
import { loadKubeconfig } from '../../../client/kubeconfig.ts';
import { createPlayground } from '../../../compose/create-playground.ts';
import type { Playground } from '../../../compose/create-playground.ts';
import type { StatusItem } from '../../../api/explain/lists.ts';
import { unpackSnapshot } from '../../../compose/snapshot/snapshot-file.ts';
import { silentLogger } from '../../../observability/silent-logger.ts';
import { expectValidAnswer } from '../../../../test/expect/valid-answer.ts';
import { createPod } from '../../testing/create-pod.ts';
import { freshHome } from '../../testing/fresh-home.ts';

const home = freshHome('snapshot');
let ground: Playground;
let transport: HttpTransport;

async function tutti(
  ...parameters: readonly string[]
): Promise<{ readonly exitCode: number | undefined; readonly stdout: string; readonly stderr: string }> {
  const process = home.tutti([...parameters]);
  const { exitCode } = await process.ended();
  return { exitCode, stdout: process.stdout, stderr: process.stderr };
}

const file = (name: string): string => join(home.path, name);

beforeAll(async () => {
  ground = await createPlayground({
    nodes: [
      { name: 'node-of-canary', allocatable: { cpu: 2, memory: '8Gi' } },
      { name: 'other-of-canary', allocatable: { cpu: 2, memory: '8Gi' } },
    ],
    logger: silentLogger,
  });
  transport = new HttpTransport({
    endpoint: await loadKubeconfig({ clock: systemClock, path: ground.kubeconfigPath }),
  });
  const client = new KubeClient({ transport, clock: systemClock });
  await client.create(podGroupPath('default'), {
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    metadata: { name: 'canary', namespace: 'default' },
    spec: { minMember: 2 },
  });
  for (const name of ['canary-0', 'canary-1']) await createPod(client, { name, group: 'canary', cpu: 3 });
  await ground.until(async () =>
    JSON.stringify(await client.get('/api/v1/namespaces/default/pods/canary-1')).includes('"Unschedulable"'),
  );
});

afterAll(async () => {
  await transport.close();
  await ground.stop();
});

describe('tutti snapshot', () => {
  it('WI22: writes what the API shows, and tutti explain plans it again', async () => {
    const path = file('api.json.gz');
    const written = await tutti('snapshot', '-o', path, '--kubeconfig', ground.kubeconfigPath);
    expect(written).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const snapshot = unpackSnapshot(await readFile(path));
    expectValidAnswer(snapshot);
    expect(snapshot).toMatchObject({ source: 'api', anonymized: false, queue: [{ notComparable: 'source' }] });
    const { exitCode, stdout } = await tutti('explain', '--snapshot', path);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('verdicts that cannot be compared: 1: they come from conditions');
  });

  it('shows the states of the groups at that time', async () => {
    const path = file('status.json.gz');
    await tutti('snapshot', '-o', path, '--kubeconfig', ground.kubeconfigPath);
    const now = await tutti('status', '-A', '-o', 'json', '--kubeconfig', ground.kubeconfigPath);
    const then = await tutti('status', '--snapshot', path, '-o', 'json');
    const list = JSON.parse(then.stdout);
    expectValidAnswer(list);
    expect([then.exitCode, then.stderr, list.basis.source]).toEqual([0, '', 'snapshot']);
    const facts = ({ subject: { name }, state, waitsFor, bound, minMember, size, message }: StatusItem): object => {
      return { name, state, waitsFor, bound, minMember, size, message };
    };
    expect(list.items.map(facts)).toEqual(JSON.parse(now.stdout).items.map(facts));
    expect((await tutti('status', '--snapshot', path, 'nope')).stderr).toBe('group/nope: not found\n');
    expect((await tutti('status', '--snapshot', path, '-w')).exitCode).toBe(2);
  });

  it('WI24: replaces all names, and the plans stay the same', async () => {
    const path = file('anonymous.json.gz');
    const flags = ['--anonymize', '--kubeconfig', ground.kubeconfigPath];
    expect(await tutti('snapshot', '-o', path, ...flags)).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    const snapshot = unpackSnapshot(await readFile(path));
    expect(snapshot).toMatchObject({ anonymized: true, queue: [{ plan: { fits: false } }] });
    expect(JSON.stringify(snapshot)).not.toContain('canary');
    expect((await tutti('explain', '--snapshot', path)).exitCode).toBe(0);
  });

  it('WI22: is served by the scheduler, with its verdicts', async () => {
    const path = file('scheduler.json.gz');
    const response = await fetch(`${ground.schedulerUrl}/debug/snapshot`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/gzip']);
    await writeFile(path, new Uint8Array(await response.arrayBuffer()));
    const { exitCode, stdout } = await tutti('explain', '--snapshot', path, '-o', 'json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      items: [{ subject: { name: 'canary' }, plan: 'same', verdict: 'same' }],
    });
  });

  it('says which file it cannot write', async () => {
    const path = join(home.path, 'none', 'x.gz');
    const { exitCode, stderr } = await tutti('snapshot', '-o', path, '--kubeconfig', ground.kubeconfigPath);
    expect([exitCode, stderr]).toEqual([
      1,
      `tutti: cannot write the snapshot to ${path}: no such directory. Use the path of a writable file\n`,
    ]);
  });
});
