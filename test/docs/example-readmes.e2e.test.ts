import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { expect, it } from 'vitest';
import { TestProcess } from '../../src/cli/testing/test-process.ts';
import { kubectlPath } from '../planes/kubectl.ts';
import { claimBlocks } from './block-claims.ts';
import { consoleCommandsOf, masked, outputsOf, transcriptsOf } from './console-blocks.ts';
import type { ConsoleCommand } from './console-blocks.ts';

const readmes = {
  'sample-plugin': claimBlocks('examples/sample-plugin/README.md', 'console'),
  'random-score': claimBlocks('examples/random-score/README.md', 'console'),
  'three-profiles': claimBlocks('examples/three-profiles/README.md', 'console'),
};
const kubectlFolder = dirname(await kubectlPath());

/** Masks the node where any except the last is valid. */
const anyNode = (text: string): string => masked(text).replaceAll(/\bnode-[123]\b/g, 'node-(any)');

/** Returns a pattern for a line that a background process logs while the next commands run; the line begins with `… INFO`. */
function logLinePattern(line: string): RegExp {
  const parts = line.replace(/^… /, '').split('…');
  return new RegExp(
    parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(/ +/g, ' +')).join('.*'),
  );
}

/** Two terminals: one runs `npm start`, the other runs everything else, with schedulers in the background. */
class Terminals {
  readonly #home: string;
  #up: TestProcess | undefined;
  #background: TestProcess | undefined;
  #kubeconfig = '';

  constructor(home: string) {
    this.#home = home;
  }

  /** Returns the output as `transcriptsOf` needs it; waits for expected output of background processes. */
  async run({ command, output }: ConsoleCommand): Promise<{ readonly printed: string; readonly expected: string }> {
    const plain = command.replace(/ +#.*$/, '');
    const logged = output.split('\n').filter((line) => line.startsWith('… INFO'));
    const rest = {
      command,
      output: output
        .split('\n')
        .filter((line) => !line.startsWith('… INFO'))
        .join('\n'),
    };
    if (plain.startsWith('npm start -- ')) return this.#start(plain, rest);
    let printed = rest.output;
    if (plain === 'kill %1') await this.#background?.kill();
    else if (plain.endsWith(' &')) this.#runInBackground(plain.slice(0, -2).split(' '));
    else if (!plain.startsWith('export KUBECONFIG=')) {
      const environment = {
        HOME: this.#home,
        KUBECONFIG: this.#kubeconfig,
        PATH: `${kubectlFolder}:${process.env.PATH}`,
      };
      [printed = ''] = await outputsOf([{ command: plain, output: '' }], environment, process.cwd());
    }
    for (const line of logged) await this.#background!.said(logLinePattern(line));
    const transcripts = transcriptsOf([rest], [printed], anyNode);
    return { printed: transcripts.printed[0]!, expected: transcripts.expected[0]! };
  }

  async #start(
    command: string,
    start: ConsoleCommand,
  ): Promise<{ readonly printed: string; readonly expected: string }> {
    this.#up = new TestProcess(['up', ...command.split(' ').slice(3)]);
    [, this.#kubeconfig] = (await this.#up.said(/^export KUBECONFIG=(\S+)$/m)) as unknown as [string, string];
    // A reader types the next command when the initial gangs have finished and their nodes are free again.
    await this.#up.said(/ FINISHED [^]* FINISHED /);
    const shown = start.output === '' ? '' : this.#up.stdout.split('\n').slice(0, 2).join('\n');
    const transcripts = transcriptsOf([start], [shown]);
    return { printed: transcripts.printed[0]!, expected: transcripts.expected[0]! };
  }

  #runInBackground([, ...parameters]: readonly string[]): void {
    // Many schedulers run on this machine.
    const port = parameters.includes('scheduler') ? ['--secure-port', '0'] : [];
    this.#background = new TestProcess([...parameters, ...port], {
      program: [process.execPath],
      environment: { KUBECONFIG: this.#kubeconfig },
    });
  }

  async close(): Promise<void> {
    await this.#background?.kill();
    await this.#up?.kill();
  }
}

it.concurrent.each(Object.entries(readmes))('examples/%s/README.md is correct', async (_name, blocks) => {
  const home = await mkdtemp(join(tmpdir(), 'tutti-readme-'));
  const terminals = new Terminals(home);
  try {
    for (const command of consoleCommandsOf(blocks)) {
      const { printed, expected } = await terminals.run(command);
      expect(printed).toBe(expected);
    }
  } finally {
    await terminals.close();
    await rm(home, { recursive: true });
  }
});
