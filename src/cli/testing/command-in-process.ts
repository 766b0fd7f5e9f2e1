import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { runCli } from '../run-cli.ts';

/** Runs `tutti` with these parameters in this process. A fake process supplies its own streams, signals and environment. */
export class CommandInProcess {
  /** Resolves with the exit code. */
  readonly ended: Promise<number>;
  readonly #process = Object.assign(new EventEmitter(), {
    argv: ['node', 'tutti'] as string[],
    env: {},
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    exit: () => undefined,
  });
  #stdout = '';
  #stderr = '';

  constructor(parameters: readonly string[]) {
    this.#process.argv.push(...parameters);
    this.#process.stdout.on('data', (text: unknown) => (this.#stdout += String(text)));
    this.#process.stderr.on('data', (text: unknown) => (this.#stderr += String(text)));
    this.ended = runCli(this.#process as unknown as NodeJS.Process);
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  signal(name: 'SIGINT' | 'SIGTERM'): void {
    this.#process.emit(name, name);
  }
}
