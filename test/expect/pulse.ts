import type { Clock } from '../../src/base/clock.ts';
import { systemClock } from '../../src/base/system-clock.ts';
import { NotFoundError } from '../../src/client/api-errors.ts';
import type { KubeClient } from '../../src/client/kube-client.ts';
import { wait } from '../../src/client/wait.ts';

/** Pause between a response and the next request. */
const beatMs = 250;

/** Distinguishes time in which the system made progress from time in which the machine was busy with something else. */
export interface WorkingTime {
  /** Returns the milliseconds of progress between two values of performance.now(). */
  workedMs(from: number, to: number): number;
}

/**
 * Requests an object from the plane repeatedly. From one response to the next at most the pause between them counts, however long it took:
 * on an overloaded machine everything is slow, including the plane, this process and the code under test.
 */
export class Pulse implements WorkingTime {
  readonly #client: Pick<KubeClient, 'get'>;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  /** Time of each response, by performance.now(). */
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
    this.#stop.abort(new Error('the pulse is closed'));
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
