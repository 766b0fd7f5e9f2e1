import { expect, it } from 'vitest';
import { CommandInProcess } from '../../src/cli/testing/command-in-process.ts';
import { claimBlocks } from './block-claims.ts';
import { consoleCommandsOf, transcriptsOf } from './console-blocks.ts';
import { TypedByKubectl } from './typed-by-kubectl.ts';
import { missingLines } from './missing-lines.ts';

// Runs the README commands on a whole `tutti up` in this process: API server, scheduler and controller, connected over HTTP.
// get-started.e2e.test.ts runs the same commands in processes and with the real kubectl.
const commands = consoleCommandsOf(claimBlocks('README.md', 'console'));
const [start, ...others] = commands;

it('npm start shows red start as a whole, blue wait, and blue start as a whole; a gang applied with kubectl starts as well', async ({
  onTestFinished,
}) => {
  expect(start!.command).toBe('npm ci && npm start');
  const up = new CommandInProcess(['up']);
  await expect.poll(() => up.stdout + up.stderr).toMatch(/partial starts$/m);
  expect(missingLines(start!.output, up.stdout)).toEqual([]);
  expect(up.stderr).toBe('');
  const kubectl = await TypedByKubectl.open(/^export KUBECONFIG=(\S+)$/m.exec(up.stdout)![1]!);
  onTestFinished(() => kubectl.close());
  const typed = others.filter(({ command }) => command.startsWith('kubectl '));
  expect(typed.length).toBeGreaterThan(2);
  const outputs: string[] = [];
  for (const { command } of typed) outputs.push(await kubectl.run(command));
  const { printed, expected } = transcriptsOf(typed, outputs);
  expect(printed).toEqual(expected);
  up.signal('SIGINT');
  expect(await up.ended).toBe(0);
});

it('without gang scheduling each group gets some nodes and waits for the rest, and the deadlock is reported', async () => {
  const up = new CommandInProcess(['up', '--naive', '--exit']);
  expect(await up.ended).toBe(3);
  expect(up.stdout).toMatch(/DEADLOCK +red and blue are partially bound/);
  expect(up.stdout).toMatch(/^2 partial starts$/m);
  expect(up.stdout).not.toMatch(/SCHEDULED|FINISHED/);
});
