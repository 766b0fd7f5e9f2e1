import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { expect, it } from 'vitest';
import { TestProcess } from '../../src/cli/testing/test-process.ts';
import { kubectlPath } from '../planes/kubectl.ts';
import { claimBlocks } from './block-claims.ts';
import { consoleCommandsOf, outputsOf, transcriptsOf } from './console-blocks.ts';
import type { ConsoleCommand } from './console-blocks.ts';
import { missingLines } from './missing-lines.ts';

const kubectlFolder = dirname(await kubectlPath());
const commands = claimBlocks('examples/stories/*/README.md', 'console').flatMap((block) =>
  consoleCommandsOf([block]).map((command) => ({ ...command, page: block.page })),
);
const start = /^npm start -- (.*)$/;
const flagsOf = ({ command }: ConsoleCommand): string[] | undefined => start.exec(command)?.[1]?.split(' ');
const isWhole = (command: ConsoleCommand): boolean => flagsOf(command)?.includes('--exit') === true;
/** Exit code of pages where nothing fits: incomplete. */
const exitCodes: Readonly<Record<string, number>> = { 'examples/stories/never-fits/README.md': 4 };

it.concurrent.each(commands.filter(isWhole))('$page: $command', async (command) => {
  const up = new TestProcess(['up', ...flagsOf(command)!]);
  const { exitCode } = await up.ended();
  expect(missingLines(command.output, up.stdout)).toEqual([]);
  expect(command.output).not.toBe('');
  expect(exitCode).toBe(exitCodes[command.page] ?? 0);
});

const pages = [...new Set(commands.filter((command) => !isWhole(command)).map(({ page }) => page))];

it.concurrent.each(pages)('%s: kubectl prints what the page shows', async (page) => {
  const rest = commands.filter((command) => command.page === page && !isWhole(command));
  const [first, ...others] = rest;
  const home = await mkdtemp(join(tmpdir(), 'tutti-story-'));
  const up = new TestProcess(['up', ...flagsOf(first!)!]);
  try {
    const [, kubeconfig] = (await up.said(/^export KUBECONFIG=(\S+)$/m)) as unknown as [string, string];
    await up.said(/partial starts$/m);
    const environment = {
      HOME: home,
      KUBECONFIG: kubeconfig,
      PATH: `${kubectlFolder}:${process.env.PATH}`,
    };
    const typed = others.filter(({ command }) => !command.startsWith('export KUBECONFIG='));
    const outputs = await outputsOf(typed, environment, process.cwd());
    const { printed, expected } = transcriptsOf(typed, outputs);
    expect(printed).toEqual(expected);
    expect(typed.length).toBeGreaterThan(1);
  } finally {
    await up.kill();
    await rm(home, { recursive: true });
  }
});
