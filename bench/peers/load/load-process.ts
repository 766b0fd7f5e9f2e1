import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { LoadReply, LoadRequest } from './load-protocol.ts';

const loadPath = fileURLToPath(new URL('load.ts', import.meta.url));

type Kind = LoadRequest['kind'];

/** The load generator's process, as seen from the bench. It ends when the bench does. */
export class LoadProcess {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(loadPath, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: [] });
  }

  /** One at a time. Rejects with what went wrong in the generator, or when it has ended. */
  async ask<K extends Kind>(request: Extract<LoadRequest, { kind: K }>): Promise<Extract<LoadReply, { kind: K }>> {
    const reply = await new Promise<LoadReply>((resolve, reject) => {
      const onExit = (code: number | null): void =>
        reject(new Error(`the load generator ended, exit code ${String(code)}`));
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
      this.#child.disconnect(); // upon which it ends itself
    });
  }
}
