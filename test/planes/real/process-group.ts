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

/** Life of one process of a group. */
type State =
  | { readonly kind: 'starting'; readonly settle: (error?: Error) => void }
  | { readonly kind: 'running'; readonly pid: number }
  | { readonly kind: 'exited'; readonly how: string };

/**
 * Processes in a temporary folder that both end with this process, however it ends. A supervisor of their own, outside of the
 * process group of this one, is their parent; what even its end left behind is removed when the next group is opened.
 */
export class ProcessGroup {
  /** Empty at first; each process logs to `<name>.log` there. */
  readonly folder: string;
  readonly #supervisor: ChildProcess;
  readonly #ended: Promise<void>;
  /** Process name -> its state */
  readonly #states = new Map<string, State>();
  /** Told at every change of a state. */
  readonly #watchers = new Set<() => void>();

  private constructor(folder: string, supervisor: ChildProcess) {
    this.folder = folder;
    this.#supervisor = supervisor;
    this.#ended = new Promise((resolve) => supervisor.once('exit', () => resolve()));
    supervisor.on('message', (answer: SupervisorAnswer) => this.#hear(answer));
    supervisor.once('exit', () => {
      for (const name of this.#states.keys()) this.#hear({ kind: 'exited', name, how: 'its supervisor has ended' });
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

  /** Resolves once it runs; says nothing about whether it is ready. Rejects when it cannot be started. */
  start(name: string, command: string, args: readonly string[]): Promise<void> {
    const state = this.#states.get(name);
    if (state !== undefined && state.kind !== 'exited') throw new Error(`${name} runs already`);
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => (error === undefined ? resolve() : reject(error));
      this.#states.set(name, { kind: 'starting', settle });
      this.#tell({ kind: 'start', name, command, args });
    });
  }

  /** Sends the signal and resolves when the process has ended by it, or had before. */
  async kill(name: string, signal: Signals = 'SIGKILL'): Promise<void> {
    if (this.#states.get(name)?.kind !== 'running') return;
    this.#tell({ kind: 'signal', name, signal });
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

  /** Undefined when it does not run. */
  pid(name: string): number | undefined {
    const state = this.#states.get(name);
    return state?.kind === 'running' ? state.pid : undefined;
  }

  /** The supervisor's own. */
  get supervisorPid(): number {
    return this.#supervisor.pid!;
  }

  /** How a process ended; undefined while it runs. */
  exit(name: string): string | undefined {
    const state = this.#states.get(name);
    return state?.kind === 'exited' ? state.how : undefined;
  }

  /** The last lines of its log, for messages. */
  async lastLines(name: string, count = 20): Promise<string> {
    const text = await readFile(join(this.folder, `${name}.log`), 'utf8').catch(() => '');
    return text.trimEnd().split('\n').slice(-count).join('\n');
  }

  /** Ends all processes and removes the folder; idempotent. */
  async close(): Promise<void> {
    if (this.#supervisor.connected) this.#supervisor.disconnect();
    await this.#ended;
  }

  #tell(request: SupervisorRequest): void {
    if (!this.#supervisor.connected) throw new Error('the group of test processes has been closed');
    this.#supervisor.send(request);
  }

  #hear(answer: SupervisorAnswer): void {
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
