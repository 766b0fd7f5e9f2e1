import { TestProcess } from '../../../src/cli/testing/test-process.ts';
import type { Ended } from '../../../src/cli/testing/test-process.ts';
import { deferred } from '../../../src/base/deferred.ts';

/** One life of one replica. */
export interface Replica {
  /** Index of its kubeconfig. */
  readonly slot: number;
  readonly process: TestProcess;
  /** Date.now() */
  readonly startedAt: number;
  endedAt: number | undefined;
}

export interface ReplicasOptions {
  /** One for each replica, with different users, so that an audit log distinguishes them. */
  readonly kubeconfigs: readonly string[];
  readonly flags: readonly string[];
}

const schedules = /"message":"scheduling"/;
const knowsItsPlace = /"message":"(scheduling|standing by)/;

/** Several `tutti scheduler` processes, each restarted when it ends, as by a kubelet. */
export class Replicas {
  /** All lives, in the order in which they were started. */
  readonly lives: Replica[] = [];
  readonly #options: ReplicasOptions;
  /** slot -> the running replica */
  readonly #running = new Map<number, Replica>();
  /** Replicas that logged that they schedule, latest last. */
  readonly #scheduling: Replica[] = [];
  #next = deferred<Replica>();
  #stopped = false;

  constructor(options: ReplicasOptions) {
    this.#options = options;
  }

  start(): void {
    for (const slot of this.#options.kubeconfigs.keys()) this.#start(slot);
  }

  /** The latest of the running replicas that logged that they schedule. */
  get leader(): Replica | undefined {
    return this.#scheduling.findLast(({ endedAt }) => endedAt === undefined);
  }

  /** Resolves with the next one that begins to schedule. */
  nextLeader(): Promise<Replica> {
    return this.#next.promise;
  }

  /** Resolves when all running replicas lead or know the leader. */
  async settled(): Promise<void> {
    await Promise.all(
      [...this.#running.values()].map(({ process }) => process.said(knowsItsPlace).catch(() => undefined)),
    );
  }

  /** Kills it as `kill -9` does; resolves when it has ended. `again` starts the next life in its slot. */
  async kill(replica: Replica): Promise<void> {
    this.#running.delete(replica.slot);
    await replica.process.kill();
  }

  again(slot: number): void {
    if (!this.#stopped && !this.#running.has(slot)) this.#start(slot);
  }

  /** Ends all of them as an operator would. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(
      [...this.#running.values()].map(({ process }) => {
        process.signal('SIGTERM');
        return process.ended();
      }),
    );
  }

  /** Error lines of the processes, other than the loss of the election and of the API server. */
  get faults(): string[] {
    return this.lives.flatMap(({ process, slot }) =>
      process.stderr
        .split('\n')
        .filter(
          (line) =>
            line.includes('"level":"error"') && !/lost the leader election|cannot reach the API server/.test(line),
        )
        .map((line) => `replica ${slot} logged ${line}`),
    );
  }

  #start(slot: number): void {
    const process = new TestProcess([
      'scheduler',
      '--kubeconfig',
      this.#options.kubeconfigs[slot]!,
      ...this.#options.flags,
    ]);
    const replica: Replica = { slot, process, startedAt: Date.now(), endedAt: undefined };
    this.lives.push(replica);
    this.#running.set(slot, replica);
    void process.ended().then((ended) => this.#ended(replica, ended));
    process.said(schedules).then(
      () => {
        this.#scheduling.push(replica);
        const waiting = this.#next;
        this.#next = deferred<Replica>();
        waiting.resolve(replica);
      },
      () => undefined, // it ended before
    );
  }

  #ended(replica: Replica, _ended: Ended): void {
    replica.endedAt = Date.now();
    if (this.#running.get(replica.slot) !== replica) return;
    this.#running.delete(replica.slot);
    this.again(replica.slot);
  }
}
