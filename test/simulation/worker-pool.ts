import { Worker } from 'node:worker_threads';
import type { Mutation } from './mutation.ts';
import type { Task } from './worker.ts';

/**
 * Runs after which a new thread replaces a thread. A run leaves about a megabyte: Node keeps composite AbortSignals until they abort, and
 * processes that crash abort none.
 */
const runsOfAThread = 400;

/** The outcome of a task. */
interface Done {
  readonly runs: number;
}

/** Threads that work off tasks, one at a time each. */
export class WorkerPool {
  readonly #mutation: Mutation | undefined;
  readonly #workers: Worker[];

  constructor(count: number, mutation?: Mutation) {
    this.#mutation = mutation;
    this.#workers = Array.from({ length: count }, () => this.#start());
  }

  /**
   * Works off the tasks in order. `done` gets each outcome in the order of completion and returns whether to continue. Rejects when a
   * thread fails, which no scenario may cause.
   */
  async run<Outcome extends Done>(
    tasks: Iterable<Task>,
    done: (outcome: Outcome, task: Task) => boolean,
  ): Promise<void> {
    const queue = tasks[Symbol.iterator]();
    let continues = true;
    const work = async (at: number): Promise<void> => {
      let runs = 0;
      for (;;) {
        const next = continues ? queue.next() : { done: true as const, value: undefined };
        if (next.done === true) return;
        const outcome = await this.#ask<Outcome>(this.#workers[at]!, next.value);
        continues = done(outcome, next.value) && continues;
        runs += outcome.runs;
        if (runs < runsOfAThread) continue;
        runs = 0;
        await this.#workers[at]!.terminate();
        this.#workers[at] = this.#start();
      }
    };
    await Promise.all(this.#workers.map((_, at) => work(at)));
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #start(): Worker {
    const mutation = this.#mutation;
    return new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: { ...(mutation !== undefined && { mutation }) },
      // A test thread must not load the modules that the test runner preloads.
      execArgv: [],
    });
  }

  #ask<Outcome>(worker: Worker, task: Task): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        worker.off('message', onMessage);
        worker.off('error', onError);
      };
      const onError = (error: Error): void => {
        end();
        reject(error);
      };
      const onMessage = (message: { outcome?: Outcome; error?: string; ready?: boolean }): void => {
        if (message.ready === true) return;
        end();
        if (message.error === undefined) resolve(message.outcome!);
        else reject(new Error(`${JSON.stringify(task)}: ${message.error}`));
      };
      worker.on('message', onMessage);
      worker.on('error', onError);
      worker.postMessage(task);
    });
  }
}
