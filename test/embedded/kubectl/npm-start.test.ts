import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubectlPath } from '../../planes/kubectl.ts';
import { followProcess } from './following.ts';
import type { Following } from './following.ts';
import { Kubectl, section, table } from './kubectl-command.ts';
import { hasKubectl } from './recorded-session.ts';

const root = join(import.meta.dirname, '..', '..', '..');

describe.runIf(hasKubectl)('kubectl with the cluster of npm start', () => {
  let folder: string;
  let tutti: Following;
  let kubeconfigPath: string;
  let kubectl: Kubectl;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tutti-start-'));
    tutti = followProcess(process.execPath, [join(root, 'src', 'main.ts'), 'up'], process.env);
    const [, path = ''] = await tutti.until(/KUBECONFIG=(\S+)/);
    kubeconfigPath = path;
    kubectl = new Kubectl(await kubectlPath(), kubeconfigPath, folder);
    await tutti.until(/blue +pending/);
  });

  afterAll(async () => {
    await tutti.end('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  it('describe pod shows the node of a pod, and why another had to wait', async () => {
    const events = async (pod: string): Promise<string> =>
      section(await kubectl.ok(`describe pod ${pod}`), 'Events').join('\n');
    expect(await events('red-0')).toMatch(/Normal +Scheduled .* tutti +Successfully assigned default\/red-0 to node-/);
    expect(await events('blue-0')).toMatch(
      /Warning +FailedScheduling .* tutti +PodGroup default\/blue cannot start: 1 of 3 members would fit/,
    );
  });

  it('get prints the groups, and the pods with their nodes', async () => {
    await kubectl.ok('wait pg --all --for=jsonpath={.status.phase}=Finished --timeout=60s');
    expect(table(await kubectl.ok('get pg'))).toEqual([
      ['NAME', 'PHASE', 'MINMEMBER', 'SCHEDULED', 'REASON', 'AGE'],
      ['blue', 'Finished', '3', '3', 'QuorumScheduled', expect.any(String)],
      ['red', 'Finished', '3', '3', 'QuorumScheduled', expect.any(String)],
    ]);
    const pods = table(await kubectl.ok('get pods -o wide --no-headers'));
    expect(pods.map(([name, , status]) => `${name} ${status}`)).toEqual(
      ['blue', 'red'].flatMap((group) => [0, 1, 2].map((index) => `${group}-${index} Completed`)),
    );
    for (const pod of pods) expect(pod[6]).toMatch(/^node-[12]$/);
  });

  it('apply starts the example again', async () => {
    await kubectl.ok('create namespace again');
    await kubectl.ok('apply -n again -f', [join(root, 'examples', 'deadlock')]);
    await kubectl.ok('wait pg --all -n again --for=jsonpath={.status.phase}=Finished --timeout=60s');
  });

  it('npm start ends at Ctrl-C and removes the kubeconfig', async () => {
    await tutti.end('SIGINT');
    expect(existsSync(kubeconfigPath)).toBe(false);
  });
});

it('npm start exits on SIGTERM, together with its child process', async () => {
  const npm = followProcess('npm', ['start'], process.env);
  const [, path = ''] = await npm.until(/KUBECONFIG=(\S+)/);
  await npm.end('SIGTERM');
  expect(existsSync(path)).toBe(false);
});
