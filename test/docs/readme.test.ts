import { expect, it } from 'vitest';
import { CommandInProcess } from '../../src/cli/testing/command-in-process.ts';
import { claimBlocks } from './block-claims.ts';
import { consoleCommandsOf, transcriptsOf } from './console-blocks.ts';
import { TypedByKubectl } from './typed-by-kubectl.ts';
import { untoldLines } from './untold-lines.ts';

// The stories of the README on the whole of `tutti up` in this process: API server, scheduler and controller, joined over HTTP. That the
// commands do this in processes, with kubectl itself, get-started.e2e.test.ts shows.
const commands = consoleCommandsOf(claimBlocks('README.md', 'console'));
const [start, ...others] = commands;

it('npm start tells how red starts whole, blue waits, and blue starts whole; a gang that kubectl applies starts as well', async ({
  onTestFinished,
}) => {
  expect(start!.command).toBe('npm ci && npm start');
  const up = new CommandInProcess(['up']);
  await expect.poll(() => up.stdout + up.stderr).toMatch(/partial starts$/m);
  expect(untoldLines(start!.output, up.stdout)).toEqual([]);
  expect(up.stderr).toBe('');
  const kubectl = await TypedByKubectl.open(/^export KUBECONFIG=(\S+)$/m.exec(up.stdout)![1]!);
  onTestFinished(() => kubectl.close());
  const typed = others.filter(({ command }) => command.startsWith('kubectl '));
  expect(typed.length).toBeGreaterThan(2);
  const outputs: string[] = [];
  for (const { command } of typed) outputs.push(await kubectl.run(command));
  const { printed, told } = transcriptsOf(typed, outputs);
  expect(printed).toEqual(told);
  up.signal('SIGINT');
  expect(await up.ended).toBe(0);
});

it('without gang scheduling each group gets some nodes and waits for the rest: a deadlock, reported as such', async () => {
  const up = new CommandInProcess(['up', '--naive', '--exit']);
  expect(await up.ended).toBe(3);
  expect(up.stdout).toMatch(/DEADLOCK +red and blue hold nodes/);
  expect(up.stdout).toMatch(/^2 partial starts$/m);
  expect(up.stdout).not.toMatch(/WHOLE|DONE/);
});
