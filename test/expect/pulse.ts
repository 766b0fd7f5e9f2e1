import type { Clock } from '../../src/base/clock.ts';
import { systemClock } from '../../src/base/system-clock.ts';
import { NotFoundError } from '../../src/client/api-errors.ts';
import type { KubeClient } from '../../src/client/kube-client.ts';
import { wait } from '../../src/client/wait.ts';

/** From an answer to the next question. */
const beatMs = 250;

/** Tells times in which things went on from those in which the machine was busy with something else. */
export interface WorkingTime {
  /** Of the milliseconds between two moments of performance.now() those in which things went on. */
  workedMs(from: number, to: number): number;
}

/**
 * Asks the plane for an object again and again. From one answer to the next as long a time counts as the pause between them, however long
 * it took: on a machine that has too much to do everything takes its time, the plane, this process and what is tested.
 */
export class Pulse implements WorkingTime {
  readonly #client: Pick<KubeClient, 'get'>;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  /** When each answer came, as performance.now(). */
  readonly #beats: number[] = [];
  readonly #running: Promise<void>;

  constructor(client: Pick<KubeClient, 'get'>, clock: Clock = systemClock) {
    this.#client = client;
    this.#clock = clock;
    this.#running = this.#run();
  }

  workedMs(from: number, to: number): number {
    let worked = 0;
    let last = from;
    for (const beat of [...this.#beats.filter((at) => at > from && at < to), to]) {
      worked += Math.min(beat - last, beatMs);
      last = beat;
    }
    return worked;
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the pulse is not needed any more'));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      if (await this.#isAnswered(signal)) this.#beats.push(this.#clock.monotonic());
      await wait(this.#clock, beatMs, signal).catch(() => undefined);
    }
  }

  async #isAnswered(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#client.get('/api/v1/namespaces/default', { signal });
      return true;
    } catch (error) {
      return error instanceof NotFoundError;
    }
  }
}
