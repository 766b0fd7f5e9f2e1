import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { expect, it } from 'vitest';
import { TestProcess } from '../../src/cli/testing/test-process.ts';
import { claimBlocks } from '../docs/block-claims.ts';
import { consoleCommandsOf, masked, outputsOf, transcriptsOf } from '../docs/console-blocks.ts';
import { kubectlPath } from '../planes/kubectl.ts';

/** Commands that use the manifests examples/gpu-job/nodes.yaml, examples/gpu-job/train.yaml and examples/gpu-job/second.yaml. */
const [start, , ...others] = consoleCommandsOf(claimBlocks('examples/gpu-job/README.md', 'console'));

/** It does not matter which of the two nodes a worker gets. */
const anyNode = (text: string): string =>
  masked(text)
    .replaceAll(/(train-\d) gpu-[12]/g, '$1 gpu-(any)')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:(port)');

it('examples/gpu-job/README.md: Jobs with GPUs start as gangs, one after the other', async () => {
  const home = await mkdtemp(join(tmpdir(), 'tutti-gpu-job-'));
  const up = new TestProcess([
    'up',
    ...start!.command
      .replace(/ +#.*$/, '')
      .split(' ')
      .slice(3),
  ]);
  try {
    const [, kubeconfig] = (await up.said(/^export KUBECONFIG=(\S+)$/m)) as unknown as [string, string];
    expect(anyNode(up.stdout.split('\n')[0]!)).toBe(anyNode(start!.output));
    const path = `${dirname(await kubectlPath())}:${process.env.PATH}`;
    const outputs = await outputsOf(others, { HOME: home, KUBECONFIG: kubeconfig, PATH: path }, process.cwd());
    const { printed, expected } = transcriptsOf(others, outputs, anyNode);
    expect(printed).toEqual(expected);
  } finally {
    await up.kill();
    await rm(home, { recursive: true });
  }
});
