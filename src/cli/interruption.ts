import type { EventEmitter } from 'node:events';
import type { Clock, Timer } from '../base/clock.ts';

/** Time that a command has to stop after a signal, by default. The documentation promises two seconds. */
const defaultGraceMs = 1_500;
/** A terminal sends Ctrl-C to npm and to its child, and npm forwards it. Two signals within this time count as one. */
const duplicateMs = 300;

const exitCodeOf = { SIGHUP: 129, SIGINT: 130, SIGPIPE: 141, SIGTERM: 143 } as const;
export type InterruptingSignal = keyof typeof exitCodeOf;

/** The part of a process that delivers signals and exits. Tests use a fake. */
export interface InterruptibleProcess {
  on: EventEmitter['on'];
  off: EventEmitter['off'];
  exit(code: number): void;
}

/**
 * Handles the signals that end the process. The first SIGINT, SIGTERM or SIGHUP aborts `signal`, and the command stops what it started.
 * If that takes longer than the grace period, or a second signal arrives, the process exits at once.
 */
export class Interruption {
  readonly #process: InterruptibleProcess;
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  readonly #handlers: readonly (readonly [InterruptingSignal, () => void])[];
  #interruptedBy: InterruptingSignal | undefined;
  #interruptedAt = 0;
  #deadline: Timer | undefined;
  #graceMs = defaultGraceMs;
  /** Exit code when stopping takes too long. Undefined: the signal's exit code. */
  #slowStopCode: number | undefined;

  constructor(process: InterruptibleProcess, clock: Clock) {
    this.#process = process;
    this.#clock = clock;
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    this.#handlers = signals.map((name) => [name, () => this.interrupt(name)] as const);
    for (const [name, handler] of this.#handlers) process.on(name, handler);
  }

  /** Aborts when the process must end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Exit code of an interrupted process. Undefined until the first signal. */
  get exitCode(): number | undefined {
    return this.#interruptedBy && exitCodeOf[this.#interruptedBy];
  }

  /** Sets the time that the command has to stop, counted from the signal. */
  allow(graceMs: number): void {
    this.#graceMs = graceMs;
  }

  /** Declares that an interruption is the normal end of the command: the process exits with 0 even if stopping takes too long. */
  completesCommand(): void {
    this.#slowStopCode = 0;
  }

  /** Resolves when the process must end. */
  requested(): Promise<void> {
    return new Promise((resolve) => {
      if (this.signal.aborted) resolve();
      else this.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /**
   * Acts as if the process had received this signal. SIGPIPE means that the reader of its output is gone. `exitCode` replaces the
   * signal's exit code if stopping takes too long.
   */
  interrupt(name: InterruptingSignal, exitCode?: number): void {
    const now = this.#clock.monotonic();
    if (this.#interruptedBy !== undefined) {
      if (name !== 'SIGPIPE' && now - this.#interruptedAt >= duplicateMs) this.#process.exit(exitCodeOf[name]);
      return;
    }
    this.#interruptedBy = name;
    this.#interruptedAt = now;
    const slowStopCode = (): number => exitCode ?? this.#slowStopCode ?? exitCodeOf[name];
    this.#deadline = this.#clock.setTimer(this.#graceMs, () => this.#process.exit(slowStopCode()));
    this.#controller.abort(new Error(`interrupted by ${name}`));
  }

  /** Removes the signal handlers and cancels the timer. */
  dispose(): void {
    this.#deadline?.cancel();
    for (const [name, handler] of this.#handlers) this.#process.off(name, handler);
  }
}
