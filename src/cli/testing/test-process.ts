import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import process from 'node:process';
import { deferred } from '../../base/deferred.ts';
import { packageFile } from '../../base/package-files.ts';

export interface TestProcessOptions {
  /** Added to this process's own. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Files that standard output and standard error are redirected to; `stdout` and `stderr` stay empty then. */
  readonly stdoutTo?: string;
  readonly stderrTo?: string;
  /** A command and its first parameters, which runs what follows them. */
  readonly under?: readonly string[];
  /** Runs in place of `tutti`: a command and its first parameters. */
  readonly program?: readonly string[];
}

let path: string | undefined;

/** The path of `tutti` as it is published, made of the sources as they are; each test file asks once. */
export function tuttiPath(): string {
  path ??= execFileSync(process.execPath, [packageFile('scripts', 'test-program.ts')], { encoding: 'utf8' });
  return path;
}

export interface Ended {
  /** Undefined: a signal killed it. */
  readonly exitCode: number | undefined;
}

/** `tutti` as a process of its own, unless another program is given. */
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
      for (const look of this.#waiting) look();
    });
    this.#child.stderr?.on('data', (text: unknown) => {
      this.#stderr += String(text);
      for (const look of this.#waiting) look();
    });
    this.#child.on('close', (code) => {
      this.#ended.resolve({ exitCode: code ?? undefined });
      for (const look of this.#waiting) look();
    });
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

  /** Resolves with the match once either output matches; rejects when the process ends without. */
  said(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(this.#stdout) ?? pattern.exec(this.#stderr);
        if (match === null && this.#child.exitCode === null && this.#child.signalCode === null) return;
        this.#waiting.delete(look);
        if (match !== null) resolve(match);
        else reject(new Error(`the process ended without saying ${String(pattern)}:\n${this.#stdout}${this.#stderr}`));
      };
      this.#waiting.add(look);
      look();
    });
  }

  signal(name: 'SIGINT' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(name);
  }

  /** Nobody reads its standard output any more. */
  closeStdout(): void {
    this.#child.stdout!.destroy();
  }

  /** For the end of a test, whatever became of it. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended();
  }
}
