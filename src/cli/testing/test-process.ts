import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import process from 'node:process';
import { deferred } from '../../base/deferred.ts';
import { packageFile } from '../../base/package-files.ts';

export interface TestProcessOptions {
  /** Added to the environment of this process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Files that standard output and standard error are redirected to. `stdout` and `stderr` then stay empty. */
  readonly stdoutTo?: string;
  readonly stderrTo?: string;
  /** A wrapper command and its parameters, followed by the program. */
  readonly under?: readonly string[];
  /** A command and its first parameters, to run instead of `tutti`. */
  readonly program?: readonly string[];
}

let path: string | undefined;

/** Returns the path of `tutti` as published, built from the current sources. Each test file builds it once. */
export function tuttiPath(): string {
  path ??= execFileSync(process.execPath, [packageFile('scripts', 'test-program.ts')], { encoding: 'utf8' });
  return path;
}

export interface Ended {
  /** Undefined: a signal killed the process. */
  readonly exitCode: number | undefined;
}

/** `tutti`, or another program, as a separate process. */
export class TestProcess {
  readonly #child: ChildProcess;
  readonly #ended = deferred<Ended>();
  readonly #waiting = new Set<() => void>();
  #stdout = '';
  #stderr = '';

  constructor(parameters: readonly string[], options: TestProcessOptions = {}) {
    const { environment, stdoutTo, stderrTo, under = [], program = [process.execPath, tuttiPath()] } = options;
    const [command, ...rest] = [...under, ...program, ...parameters];
    const redirections = [stdoutTo, stderrTo].map((path) => (path === undefined ? undefined : openSync(path, 'w')));
    this.#child = spawn(command!, rest, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', ...redirections.map((file) => file ?? 'pipe')],
    });
    for (const file of redirections) if (file !== undefined) closeSync(file);
    this.#child.stdout?.on('data', (text: unknown) => {
      this.#stdout += String(text);
      for (const check of this.#waiting) check();
    });
    this.#child.stderr?.on('data', (text: unknown) => {
      this.#stderr += String(text);
      for (const check of this.#waiting) check();
    });
    this.#child.on('close', (code) => {
      this.#ended.resolve({ exitCode: code ?? undefined });
      for (const check of this.#waiting) check();
    });
  }

  /** Undefined: the process could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  ended(): Promise<Ended> {
    return this.#ended.promise;
  }

  /** Resolves with the match once either output matches. Rejects if the process exits without a match. */
  said(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const match = pattern.exec(this.#stdout) ?? pattern.exec(this.#stderr);
        if (match === null && this.#child.exitCode === null && this.#child.signalCode === null) return;
        this.#waiting.delete(check);
        if (match !== null) resolve(match);
        else
          reject(
            new Error(
              `the process exited without output that matches ${String(pattern)}:\n${this.#stdout}${this.#stderr}`,
            ),
          );
      };
      this.#waiting.add(check);
      check();
    });
  }

  signal(name: 'SIGINT' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(name);
  }

  /** Closes the reading end of standard output. */
  closeStdout(): void {
    this.#child.stdout!.destroy();
  }

  /** Kills the process at the end of a test, in whatever state it is. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended();
  }
}
