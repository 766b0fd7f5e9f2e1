import type { Clock, Timer } from '../../base/clock.ts';

/** Something that the server should have done by itself and could not. */
export interface BackgroundProblem {
  /** What was to be done. */
  readonly message: string;
  /** With what: `pods/default/web`. */
  readonly subject: string;
  readonly error: unknown;
}

/**
 * What the server does by itself, outside of any request. Each task stands alone: one that fails is reported, and neither ends the
 * process nor keeps the others from being done.
 */
export class BackgroundWork {
  readonly #clock: Clock;
  readonly #onProblem: (problem: BackgroundProblem) => void;

  constructor(clock: Clock, onProblem: (problem: BackgroundProblem) => void) {
    this.#clock = clock;
    this.#onProblem = onProblem;
  }

  /** Does the task after a while; at once is a delay of zero, after what runs now has ended. */
  after(delayMs: number, message: string, subject: string, task: () => void): Timer {
    return this.#clock.setTimer(delayMs, () => this.attempt(message, subject, task, undefined));
  }

  /** Does the task now. What it gives, or `otherwise` when it fails. */
  attempt<T>(message: string, subject: string, task: () => T, otherwise: T): T {
    try {
      return task();
    } catch (error) {
      this.#onProblem({ message, subject, error });
      return otherwise;
    }
  }
}
