import { describe, expect, it } from 'vitest';
import { createProgram } from '../program.ts';
import type { Commands } from '../program.ts';
import { complete } from './complete.ts';
import type { Completed, CompletionScope } from './complete.ts';
import { completionLines } from './completion.ts';

const names: Readonly<Record<Completed, readonly string[]>> = {
  groupsAndPods: ['red', 'blue', 'pod/red-0'],
  nodes: ['a'],
  namespaces: ['default', 'ml'],
};

async function completed(...words: readonly string[]): Promise<{ lines: readonly string[]; scope?: CompletionScope }> {
  let scope: CompletionScope | undefined;
  const program = createProgram({} as Commands, () => undefined);
  const completion = await complete(words, program, (kind, its) => {
    scope = its;
    return Promise.resolve(names[kind]);
  });
  const lines = completionLines(completion).map((line) => line.split('\t')[0]!);
  return { lines, ...(scope !== undefined && { scope }) };
}

describe('completion', () => {
  it('offers the commands that begin with the word, with their descriptions', async () => {
    expect((await completed('s')).lines).toEqual(['scheduler', 'status', 'snapshot', ':4']);
    expect((await completed('config', '')).lines).toEqual(['check', ':4']);
    const program = createProgram({} as Commands, () => undefined);
    const { candidates } = await complete(['ver'], program, () => Promise.resolve([]));
    expect(candidates[0]!.description).toMatch(/^Check that a cluster can run Tutti/);
  });

  it('offers flags, and the values of a flag', async () => {
    expect((await completed('status', '--sel')).lines).toEqual(['--selector', ':4']);
    expect((await completed('status', '-o', 'j')).lines).toEqual(['json', ':4']);
    expect((await completed('status', '--output=y')).lines).toEqual(['--output=yaml', ':4']);
    expect((await completed('status', '--output', '=', 'y')).lines).toEqual(['yaml', ':4']);
    expect((await completed('completion', '')).lines).toEqual(['bash', 'zsh', 'fish', ':4']);
    expect((await completed('help', 'q')).lines).toEqual(['queue', ':4']);
  });

  it('offers pod groups and pods, in the cluster and namespace of the flags before', async () => {
    const line = ['status', 'blue', '-n', 'ml', '--context=staging', '-A', '--kubeconfig', 'k', 'r'];
    expect(await completed(...line)).toEqual({
      lines: ['red', ':4'],
      scope: { namespace: 'ml', context: 'staging', kubeconfig: 'k' },
    });
    expect((await completed('status', 'pod/')).lines).toEqual(['pod/red-0', ':4']);
  });

  it('offers namespaces', async () => {
    expect((await completed('status', '-n', '')).lines).toEqual(['default', 'ml', ':4']);
    expect((await completed('queue', '--namespace=m')).lines).toEqual(['--namespace=ml', ':4']);
  });

  it('lets the shell offer files', async () => {
    expect((await completed('status', '--kubeconfig', '')).lines).toEqual([':0']);
    expect((await completed('config', 'check', 'a.yaml', '')).lines).toEqual([':0']);
  });

  it.each([
    ['an unknown command', 'nope', ''],
    ['an unknown flag', 'status', '--nope=x'],
    ['a flag with any value', 'status', '-l', ''],
    ['a command without arguments', 'queue', ''],
  ])('offers nothing for %s', async (_, ...words) => {
    expect((await completed(...words)).lines).toEqual([':4']);
  });
});
