import { spawn } from 'node:child_process';
import process from 'node:process';

/** A command of a page's console blocks, and what the page says that it prints. */
export interface ConsoleCommand {
  readonly command: string;
  readonly output: string;
}

const times = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** Those of the blocks marked as console, in order: a line that begins with `$ `, and what follows it until the next. */
export function consoleCommandsIn(page: string): ConsoleCommand[] {
  return [...page.matchAll(/^```console\n(.*?)^```$/gms)].flatMap(([, block]) =>
    block!
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const end = part.indexOf('\n');
        return { command: part.slice(0, end), output: part.slice(end + 1).trimEnd() };
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
