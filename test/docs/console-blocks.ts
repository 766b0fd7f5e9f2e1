import { spawn } from 'node:child_process';
import process from 'node:process';
import { parsePage } from './markdown-page.ts';
import type { PageBlock } from './markdown-page.ts';

/** A command in a console block, with its documented output. */
export interface ConsoleCommand {
  readonly command: string;
  readonly output: string;
}

/** Actual and expected output of each command, which must be equal: `$ `, the command, and the output in the lines below. */
export interface Transcripts {
  readonly printed: readonly string[];
  readonly expected: readonly string[];
}

const times = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const uids = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
/** Formats of kubectl and `tutti up`: `5s`, `2m3s`, `1.14s`. */
const durations = /\b(?:\d+[dhm])*\d+(?:\.\d+)?s\b|\b\d+[dhm]\b/g;

/** Returns the commands in a page's console blocks, in order. */
export function consoleCommandsIn(page: string): ConsoleCommand[] {
  return consoleCommandsOf(parsePage('', page).blocks.filter(({ language }) => language === 'console'));
}

/**
 * Returns the commands in order: a line that begins with `$ `, the following lines while each ends with `\`, and the output up to the next
 * command.
 */
export function consoleCommandsOf(blocks: readonly PageBlock[]): ConsoleCommand[] {
  return blocks.flatMap(({ code }) =>
    code
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [command] = /^(?:.*\\\n)*.*/.exec(part)!;
        return { command, output: part.slice(command.length + 1).trimEnd() };
      }),
  );
}

/** Runs the commands in one shell, so that later ones see the variables of earlier ones. Returns the output of each. */
export async function outputsOf(
  commands: readonly ConsoleCommand[],
  environment: Readonly<Record<string, string>>,
  folder: string,
): Promise<string[]> {
  const mark = '--- next ---';
  const script = commands.map(({ command }) => `${command}\nprintf '\\n${mark}\\n'`).join('\n');
  const shell = spawn('sh', ['-c', `exec 2>&1\n${script}`], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...environment },
  });
  let printed = '';
  shell.stdout.on('data', (data: unknown) => (printed += String(data)));
  await new Promise((resolve) => shell.once('close', resolve));
  return printed
    .split(`\n${mark}\n`)
    .slice(0, -1)
    .map((output) => output.trimEnd());
}

/** Replaces every time by the same text. */
export function withoutTimes(text: string): string {
  return text.replaceAll(times, '(time)');
}

/** Replaces every time, age and uid by the same text, and separates columns by one space. */
export function masked(text: string): string {
  return withoutTimes(text)
    .replaceAll(uids, '(uid)')
    .replaceAll(durations, '(age)')
    .replaceAll(/(Resource Version): +\S+/g, '$1: (any)')
    .replaceAll(/ +/g, ' ')
    .replaceAll(/^ +| +$/gm, '');
}

/**
 * Returns the transcripts for `expect(printed).toEqual(expected)`. In documented output, `…` matches any text in its line, and a line with
 * only `…` matches any lines.
 */
export function transcriptsOf(
  commands: readonly ConsoleCommand[],
  outputs: readonly string[],
  mask: (text: string) => string = masked,
): Transcripts {
  const expected = commands.map(({ command, output }) => `$ ${command}\n${mask(output)}`);
  const printed = commands.map(({ command, output }, index) => {
    const text = mask(outputs[index] ?? '(it was not run)');
    return `$ ${command}\n${elided(mask(output)).test(`${text}\n`) ? mask(output) : text}`;
  });
  return { printed, expected };
}

function elided(expected: string): RegExp {
  const lines = expected.split('\n').map((line) => {
    if (line.trim() === '…') return '(?:.*\n)*';
    const parts = line.split('…').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
    return `${parts.join('.*')}\n`;
  });
  return new RegExp(`^${lines.join('')}$`);
}
