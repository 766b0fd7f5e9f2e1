import type { Clock, Timer } from '../../base/clock.ts';

/** A background task that failed. */
export interface BackgroundProblem {
  /** The action that failed. A constant message. */
  readonly message: string;
  /** The object that the task worked on, such as `pods/default/web`. */
  readonly subject: string;
  readonly error: unknown;
}

/**
 * Runs the server's own tasks, outside of requests. Reports a task that fails. The failure neither ends the process nor stops other
 * tasks.
 */
export class BackgroundWork {
  readonly #clock: Clock;
  readonly #onProblem: (problem: BackgroundProblem) => void;

  constructor(clock: Clock, onProblem: (problem: BackgroundProblem) => void) {
    this.#clock = clock;
    this.#onProblem = onProblem;
  }

  /** Runs the task after the delay. A delay of zero runs it once the current code has returned. */
  after(delayMs: number, message: string, subject: string, task: () => void): Timer {
    return this.#clock.setTimer(delayMs, () => this.attempt(message, subject, task, undefined));
  }

  /** Runs the task now. Returns its result, or `fallback` if it throws. */
  attempt<T>(message: string, subject: string, task: () => T, fallback: T): T {
    try {
      return task();
    } catch (error) {
      this.#onProblem({ message, subject, error });
      return fallback;
    }
  }
}
