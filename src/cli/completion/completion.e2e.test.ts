import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openEmbeddedPlane } from '../../../test/planes/embedded.ts';
import type { EmbeddedPlane } from '../../../test/planes/embedded.ts';
import { kubectlPath } from '../../../test/planes/kubectl.ts';
import { podGroupPath } from '../../api/pod-group.ts';
import { localKubeconfig } from '../../client/local-kubeconfig.ts';
import { freshHome } from '../testing/fresh-home.ts';
import { TestProcess, tuttiPath } from '../testing/test-process.ts';

const home = freshHome('completion');
let plane: EmbeddedPlane;
let bin: string;

/** Puts the program into a folder under its three names, as npm does. */
beforeEach(async () => {
  bin = join(home.path, 'bin');
  await mkdir(bin);
  for (const name of ['tutti', 'kubectl-tutti', 'kubectl_complete-tutti']) {
    // Without the flags of the first line of the program, which only matter for a scheduler.
    const link = join(bin, `${name}.js`);
    await symlink(tuttiPath(), link);
    const path = join(bin, name);
    await writeFile(path, `#!/bin/sh\nexec '${process.execPath}' '${link}' "$@"\n`);
    await chmod(path, 0o755);
  }
});

beforeAll(async () => {
  plane = await openEmbeddedPlane();
  const { client } = plane;
  for (const name of ['red', 'blue']) {
    await client.create(podGroupPath('default'), {
      apiVersion: 'scheduling.x-k8s.io/v1alpha1',
      kind: 'PodGroup',
      metadata: { name, namespace: 'default' },
      spec: { minMember: 1 },
    });
  }
  await client.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-7' } });
  const containers = [{ name: 'main', image: 'x' }];
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'lone' }, spec: { containers } };
  await client.create('/api/v1/namespaces/default/pods', pod);
});

afterAll(() => plane.stop());

async function run(
  program: string,
  ...parameters: readonly string[]
): Promise<{ exitCode: number | undefined; stdout: string; stderr: string }> {
  const environment = {
    KUBECONFIG: plane.kubeconfigPath,
    HOME: home.path,
    PATH: `${bin}${delimiter}${process.env.PATH}`,
  };
  const child = new TestProcess(parameters, { environment, program: [program] });
  const { exitCode } = await child.ended();
  return { exitCode, stdout: child.stdout, stderr: child.stderr };
}

describe('tutti __complete', () => {
  it('KP2: offers pod groups, pods, nodes and namespaces of the cluster', async () => {
    // On a busy machine, an answer may miss the deadline; then a shell offers nothing, and the user asks again.
    const offers = (...parameters: readonly string[]): ReturnType<typeof expect.poll> =>
      expect.poll(async () => run(join(bin, 'tutti'), '__complete', ...parameters));
    await offers('status', '').toMatchObject({ exitCode: 0, stdout: 'blue\nred\npod/lone\n:4\n' });
    await offers('status', '-n', 'kube-s').toMatchObject({ stdout: 'kube-system\n:4\n' });
    await offers('drain-check', 'node-').toMatchObject({ stdout: 'node-7\n:4\n' });
  });

  it('KP2: offers nothing, and says nothing, if the cluster cannot be reached or does not answer', async () => {
    const kubeconfig = join(home.path, 'kubeconfig');
    for (const server of ['http://127.0.0.1:1', 'http://192.0.2.1']) {
      await writeFile(kubeconfig, localKubeconfig(server));
      expect(await run(join(bin, 'tutti'), '__complete', 'status', '--kubeconfig', kubeconfig, '')).toEqual({
        exitCode: 0,
        stdout: ':4\n',
        stderr: '',
      });
    }
  });
});

describe('Bash', () => {
  it.each([
    ['tutti sta', 'status'],
    ['tutti status r', 'red'],
    ['tutti status --output js', 'json'],
    ['tutti config check /usr/bi', '/usr/bin'],
  ])('completes %s to %s', async (line, candidate) => {
    const words = line.split(' ');
    const script = [
      'source <(tutti completion bash)',
      `COMP_WORDS=(${words.join(' ')}) COMP_CWORD=${words.length - 1}`,
      '_tutti',
      'printf "%s\\n" "${COMPREPLY[@]}"',
    ].join('\n');
    const { stdout, stderr } = await run('bash', '-c', script);
    expect([stdout, stderr]).toEqual([`${candidate}\n`, '']);
  });
});

describe('kubectl', () => {
  it('KP1: runs the program as its plugin, which then shows its name', async () => {
    const { stdout } = await run(await kubectlPath(), 'tutti', 'status', '--help');
    expect(stdout).toContain('Usage: kubectl tutti status [options] [name...]');
    expect((await run(await kubectlPath(), 'tutti', 'status', '-o', 'name')).stdout).toContain('/red\n');
  });

  it('KP2: completes the arguments of the plugin', async () => {
    const { stdout } = await run(await kubectlPath(), '__complete', 'tutti', 'status', 'b');
    expect(stdout).toBe('blue\n:4\n');
    expect((await run(await kubectlPath(), '__complete', 'tutti', 'ver')).stdout).toMatch(
      /^verify\t.*\nversion\t.*\n:4\n$/,
    );
  });
});
