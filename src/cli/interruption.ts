import type { EventEmitter } from 'node:events';
import type { Clock, Timer } from '../base/clock.ts';

/** How long a command may take to stop once it is asked to, unless it says otherwise; the promise to users is two seconds. */
const usualGraceMs = 1_500;
/** A terminal sends Ctrl-C to npm and to its child, and npm passes it on: both copies are one wish. */
const sameWishMs = 300;

const exitCodeOf = { SIGHUP: 129, SIGINT: 130, SIGPIPE: 141, SIGTERM: 143 } as const;
export type InterruptingSignal = keyof typeof exitCodeOf;

/** The signals and exit of a process; tests put another in. */
export interface InterruptibleProcess {
  on: EventEmitter['on'];
  off: EventEmitter['off'];
  exit(code: number): void;
}

/**
 * Whether the user wants the process to end. The first SIGINT, SIGTERM or SIGHUP aborts `signal`; a command then stops what it
 * started. If that takes longer than its grace, or the signal comes again, the process exits at once.
 */
export class Interruption {
  readonly #process: InterruptibleProcess;
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  readonly #handlers: readonly (readonly [InterruptingSignal, () => void])[];
  #interruptedBy: InterruptingSignal | undefined;
  #interruptedAt = 0;
  #deadline: Timer | undefined;
  #graceMs = usualGraceMs;
  /** What a stop that takes too long exits with; undefined: the signal's code. */
  #slowStopCode: number | undefined;

  constructor(process: InterruptibleProcess, clock: Clock) {
    this.#process = process;
    this.#clock = clock;
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    this.#handlers = signals.map((name) => [name, () => this.interrupt(name)] as const);
    for (const [name, handler] of this.#handlers) process.on(name, handler);
  }

  /** Aborts when the process shall end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What a process that was cut short exits with; undefined while nothing has interrupted it. */
  get exitCode(): number | undefined {
    return this.#interruptedBy && exitCodeOf[this.#interruptedBy];
  }

  /** What runs from now on may take so long to stop, counted from the signal. */
  allow(graceMs: number): void {
    this.#graceMs = graceMs;
  }

  /** An interruption is how the command ends: when the stop takes too long, the process exits with 0 all the same. */
  completesCommand(): void {
    this.#slowStopCode = 0;
  }

  /** Resolves when the process shall end. */
  requested(): Promise<void> {
    return new Promise((resolve) => {
      if (this.signal.aborted) resolve();
      else this.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /**
   * As if the process had received this signal. SIGPIPE: nobody reads its output any more. `exitCode`: what it exits with when
   * it takes too long to stop, where that is not the signal's.
   */
  interrupt(name: InterruptingSignal, exitCode?: number): void {
    const now = this.#clock.monotonic();
    if (this.#interruptedBy !== undefined) {
      if (name !== 'SIGPIPE' && now - this.#interruptedAt >= sameWishMs) this.#process.exit(exitCodeOf[name]);
      return;
    }
    this.#interruptedBy = name;
    this.#interruptedAt = now;
    const slowStopCode = (): number => exitCode ?? this.#slowStopCode ?? exitCodeOf[name];
    this.#deadline = this.#clock.setTimer(this.#graceMs, () => this.#process.exit(slowStopCode()));
    this.#controller.abort(new Error(`interrupted by ${name}`));
  }

  /** Takes its hands off the process. */
  dispose(): void {
    this.#deadline?.cancel();
    for (const [name, handler] of this.#handlers) this.#process.off(name, handler);
  }
}
