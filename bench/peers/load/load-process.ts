import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { LoadReply, LoadRequest } from './load-protocol.ts';

const loadPath = fileURLToPath(new URL('load.ts', import.meta.url));

type Kind = LoadRequest['kind'];

/** The benchmark's side of the load generator process, which ends with the benchmark. */
export class LoadProcess {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(loadPath, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: [] });
  }

  /** Sends a request. Only one at a time. Rejects with the generator's error, or if it has exited. */
  async ask<K extends Kind>(request: Extract<LoadRequest, { kind: K }>): Promise<Extract<LoadReply, { kind: K }>> {
    const reply = await new Promise<LoadReply>((resolve, reject) => {
      const onExit = (code: number | null): void => reject(new Error(`the load generator exited with ${String(code)}`));
      this.#child.once('exit', onExit);
      this.#child.once('message', (message: LoadReply) => {
        this.#child.off('exit', onExit);
        resolve(message);
      });
      this.#child.send(request, (error) => {
        if (error !== null) reject(error);
      });
    });
    if (reply.kind === 'failed') throw new Error(`load generator: ${reply.message}`);
    return reply as Extract<LoadReply, { kind: K }>;
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    await new Promise((resolve) => {
      this.#child.once('exit', resolve);
      this.#child.disconnect(); // the generator then exits
    });
  }
}
