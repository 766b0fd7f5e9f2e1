import { expect, it } from 'vitest';
import { consoleCommandsIn, outputsOf, transcriptsOf } from './console-blocks.ts';

const page = [
  '# A page',
  '```console',
  '$ printf "%s\\n" a \\',
  '    b c',
  'a',
  '…',
  '$ echo created at 2026-11-22T01:40:22Z by $HOST',
  'created … tester',
  '```',
].join('\n');

it('console commands continue after a backslash; times and omitted output do not matter', async () => {
  const commands = consoleCommandsIn(page);
  expect(commands.map(({ command }) => command)).toEqual([
    'printf "%s\\n" a \\\n    b c',
    'echo created at 2026-11-22T01:40:22Z by $HOST',
  ]);
  const outputs = await outputsOf(commands, { HOST: 'tester' }, '.');
  expect(outputs).toEqual(['a\nb\nc', 'created at 2026-11-22T01:40:22Z by tester']);
  const { printed, expected } = transcriptsOf(commands, outputs);
  expect(printed).toEqual(expected);
  const other = transcriptsOf(commands, ['b\nc', 'created by another']);
  expect(other.printed).toEqual([`$ ${commands[0]!.command}\nb\nc`, `$ ${commands[1]!.command}\ncreated by another`]);
  expect(transcriptsOf(commands, []).printed[0]).toMatch(/it was not run/);
});
