import { spawn } from 'node:child_process';
import process from 'node:process';
import { parsePage } from './markdown-page.ts';
import type { PageBlock } from './markdown-page.ts';

/** A command of a page's console blocks, and what the page says that it prints. */
export interface ConsoleCommand {
  readonly command: string;
  readonly output: string;
}

/** What each command printed and what the page says of it, to be equal: `$ `, the command, and the output in the lines below. */
export interface Transcripts {
  readonly printed: readonly string[];
  readonly told: readonly string[];
}

const times = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const uids = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
/** As kubectl writes them, and `tutti up`: `5s`, `2m3s`, `1.14s`. */
const durations = /\b(?:\d+[dhm])*\d+(?:\.\d+)?s\b|\b\d+[dhm]\b/g;

/** Those of a page's blocks marked as console, in order. */
export function consoleCommandsIn(page: string): ConsoleCommand[] {
  return consoleCommandsOf(parsePage('', page).blocks.filter(({ language }) => language === 'console'));
}

/** In order: a line that begins with `$ `, with the next ones while it ends with `\`, and what follows until the next command. */
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

/** Runs the commands in one shell, so that a later one knows the variables of those before it. Answers what each printed. */
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

/** With every time the same. */
export function withoutTimes(text: string): string {
  return text.replaceAll(times, '(time)');
}

/** With every time, age and uid the same, and columns set apart by one space. */
export function masked(text: string): string {
  return withoutTimes(text)
    .replaceAll(uids, '(uid)')
    .replaceAll(durations, '(age)')
    .replaceAll(/(Resource Version): +\S+/g, '$1: (any)')
    .replaceAll(/ +/g, ' ')
    .replaceAll(/^ +| +$/gm, '');
}

/**
 * For `expect(printed).toEqual(told)`. In what a page tells, `…` is any text of the line that it stands in, and a line of nothing
 * else any lines.
 */
export function transcriptsOf(
  commands: readonly ConsoleCommand[],
  outputs: readonly string[],
  mask: (text: string) => string = masked,
): Transcripts {
  const told = commands.map(({ command, output }) => `$ ${command}\n${mask(output)}`);
  const printed = commands.map(({ command, output }, index) => {
    const text = mask(outputs[index] ?? '(it was not run)');
    return `$ ${command}\n${elided(mask(output)).test(`${text}\n`) ? mask(output) : text}`;
  });
  return { printed, told };
}

function elided(told: string): RegExp {
  const lines = told.split('\n').map((line) => {
    if (line.trim() === '…') return '(?:.*\n)*';
    const parts = line.split('…').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
    return `${parts.join('.*')}\n`;
  });
  return new RegExp(`^${lines.join('')}$`);
}
