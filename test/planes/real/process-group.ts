import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endAbandonedGroups, folderPrefix } from './abandoned-groups.ts';
import type { SupervisorAnswer, SupervisorRequest } from './supervisor-messages.ts';

export type Signals = NodeJS.Signals;

const supervisorPath = fileURLToPath(new URL('supervisor.ts', import.meta.url));

/** Life-cycle state of one process of a group. */
type State =
  | { readonly kind: 'starting'; readonly settle: (error?: Error) => void }
  | { readonly kind: 'running'; readonly pid: number }
  | { readonly kind: 'exited'; readonly how: string };

/**
 * Processes and a temporary folder that end with this process, however it ends. Their parent is a supervisor outside the process group of
 * this one. If the supervisor is killed too, opening the next group removes what is left.
 */
export class ProcessGroup {
  /** Empty at first; each process logs to `<name>.log` there. */
  readonly folder: string;
  readonly #supervisor: ChildProcess;
  readonly #ended: Promise<void>;
  /** process name -> its state */
  readonly #states = new Map<string, State>();
  /** Callbacks for every change of a state. */
  readonly #watchers = new Set<() => void>();

  private constructor(folder: string, supervisor: ChildProcess) {
    this.folder = folder;
    this.#supervisor = supervisor;
    this.#ended = new Promise((resolve) => supervisor.once('exit', () => resolve()));
    supervisor.on('message', (answer: SupervisorAnswer) => this.#handle(answer));
    supervisor.once('exit', () => {
      for (const name of this.#states.keys()) this.#handle({ kind: 'exited', name, how: 'its supervisor has ended' });
    });
  }

  static async open(): Promise<ProcessGroup> {
    await endAbandonedGroups();
    const folder = join(tmpdir(), `${folderPrefix}${randomUUID()}`);
    const supervisor = fork(supervisorPath, [folder], { detached: true, stdio: 'ignore', execArgv: [] });
    await new Promise<void>((resolve, reject) => {
      supervisor.once('message', () => resolve());
      supervisor.once('error', reject);
      supervisor.once('exit', (code) => reject(new Error(`the supervisor of test processes ended, exit code ${code}`)));
    });
    return new ProcessGroup(folder, supervisor);
  }

  /** Resolves once the process runs; it may not be ready yet. Rejects when it cannot be started. */
  start(name: string, command: string, args: readonly string[]): Promise<void> {
    const state = this.#states.get(name);
    if (state !== undefined && state.kind !== 'exited') throw new Error(`${name} runs already`);
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => (error === undefined ? resolve() : reject(error));
      this.#states.set(name, { kind: 'starting', settle });
      this.#send({ kind: 'start', name, command, args });
    });
  }

  /** Sends the signal and resolves when the process has ended. */
  async kill(name: string, signal: Signals = 'SIGKILL'): Promise<void> {
    if (this.#states.get(name)?.kind !== 'running') return;
    this.#send({ kind: 'signal', name, signal });
    await new Promise<void>((resolve) => {
      const check = (): void => {
        if (this.#states.get(name)?.kind === 'running') return;
        this.#watchers.delete(check);
        resolve();
      };
      this.#watchers.add(check);
      check();
    });
  }

  /** Returns the process id; undefined when it does not run. */
  pid(name: string): number | undefined {
    const state = this.#states.get(name);
    return state?.kind === 'running' ? state.pid : undefined;
  }

  /** Process id of the supervisor. */
  get supervisorPid(): number {
    return this.#supervisor.pid!;
  }

  /** Returns how a process ended; undefined while it runs. */
  exit(name: string): string | undefined {
    const state = this.#states.get(name);
    return state?.kind === 'exited' ? state.how : undefined;
  }

  /** Returns the last lines of its log, for messages. */
  async lastLines(name: string, count = 20): Promise<string> {
    const text = await readFile(join(this.folder, `${name}.log`), 'utf8').catch(() => '');
    return text.trimEnd().split('\n').slice(-count).join('\n');
  }

  /** Ends all processes and removes the folder; idempotent. */
  async close(): Promise<void> {
    if (this.#supervisor.connected) this.#supervisor.disconnect();
    await this.#ended;
  }

  #send(request: SupervisorRequest): void {
    if (!this.#supervisor.connected) throw new Error('the group of test processes has been closed');
    this.#supervisor.send(request);
  }

  #handle(answer: SupervisorAnswer): void {
    if (answer.kind === 'ready') return;
    const { name } = answer;
    const before = this.#states.get(name);
    if (answer.kind === 'started') {
      this.#states.set(name, { kind: 'running', pid: answer.pid });
      if (before?.kind === 'starting') before.settle();
    } else {
      this.#states.set(name, { kind: 'exited', how: answer.how });
      if (before?.kind === 'starting') before.settle(new Error(`${name} could not be started: ${answer.how}`));
    }
    for (const watcher of [...this.#watchers]) watcher();
  }
}
