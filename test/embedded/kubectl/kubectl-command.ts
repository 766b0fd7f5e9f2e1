import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { followProcess } from './following.ts';
import type { Following } from './following.ts';
import { hangsMs } from '../../planes/patience.ts';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Newer versions print this suffix; the tests expect the output of older ones. */
const namedNamespace = /^(\S+ ".*" (?:force )?deleted) from \S+ namespace$/gm;

/** The real kubectl with its own kubeconfig and cache, and without the user's settings. */
export class Kubectl {
  readonly #path: string;
  readonly #common: readonly string[];
  readonly #environment: NodeJS.ProcessEnv;

  constructor(path: string, kubeconfigPath: string, folder: string) {
    this.#path = path;
    this.#common = ['--kubeconfig', kubeconfigPath, '--cache-dir', join(folder, 'cache')];
    // kubectl diff runs the system's diff.
    this.#environment = { PATH: process.env.PATH, HOME: folder };
  }

  /** Resolves when it has ended, with any exit code. `words` is split at spaces; `rest` is not. */
  run(words: string, rest: readonly string[] = [], stdin?: unknown): Promise<Outcome> {
    return new Promise((resolve) => {
      const child = execFile(
        this.#path,
        [...this.#common, ...words.split(' '), ...rest],
        { env: this.#environment, maxBuffer: 2 ** 24, timeout: hangsMs },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
          resolve({ code, stdout: stdout.replace(namedNamespace, '$1'), stderr });
        },
      );
      if (stdin !== undefined) child.stdin?.end(typeof stdin === 'string' ? stdin : JSON.stringify(stdin));
    });
  }

  /** Runs it and returns its output. Rejects unless the exit code is 0. */
  async ok(words: string, rest: readonly string[] = [], stdin?: unknown): Promise<string> {
    const { code, stdout, stderr } = await this.run(words, rest, stdin);
    if (code !== 0) throw new Error(`kubectl ${[words, ...rest].join(' ')} exited with ${code}: ${stderr}${stdout}`);
    return stdout;
  }

  /** Runs it and returns its error output. Rejects unless the exit code is 1. */
  async fails(words: string, rest: readonly string[] = [], stdin?: unknown): Promise<string> {
    const { code, stdout, stderr } = await this.run(words, rest, stdin);
    if (code !== 1) throw new Error(`kubectl ${[words, ...rest].join(' ')} exited with ${code}: ${stderr}${stdout}`);
    return stderr.trimEnd();
  }

  /** Starts a command that runs until it is ended, such as `get -w`. */
  follow(words: string): Following {
    return followProcess(this.#path, [...this.#common, ...words.split(' ')], this.#environment);
  }
}

/** Splits a table printed by kubectl into cells; the first line is the header. */
export function table(text: string): string[][] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd().split(/ {2,}/));
}

/** Returns the lines below a heading of `describe`, up to the next heading, without indentation. */
export function section(text: string, heading: string): string[] {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => line.startsWith(`${heading}:`));
  if (first < 0) throw new Error(`no ${heading} in:\n${text}`);
  const length = lines.slice(first + 1).findIndex((line) => !line.startsWith(' '));
  return lines.slice(first + 1, length < 0 ? undefined : first + 1 + length).map((line) => line.trim());
}
