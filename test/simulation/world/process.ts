import type { Clock, Timer } from '../../../src/base/clock.ts';
import type { Random } from '../../../src/base/random.ts';
import { seededRandom } from '../../../src/base/random.ts';
import { mix } from './mix.ts';
import type { Timeline } from './timeline.ts';

export type Role = 'scheduler' | 'controller';

/** Wall-clock time at which every run begins. */
export const startMs = Date.UTC(2026, 0, 1);

/**
 * One process of the product. Timers and answers reach it through this class, so that a test can pause it, as a long garbage collection
 * does, or crash it at any moment. A crashed process receives nothing more, and nothing that it does has an effect.
 */
export class SimulatedProcess {
  readonly role: Role;
  /** For example `scheduler-2`, the second one started. */
  readonly name: string;
  readonly startedAt: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly #timeline: Timeline;
  #wallJumpMs = 0;
  #lastMonotonic = 0;
  #isAlive = true;
  #hasLostLease = false;
  /** Deliveries that arrived during a pause; undefined while it runs. */
  #held: (() => void)[] | undefined;
  readonly #onEnd: (() => void)[] = [];
  #wasPaused = false;
  /** Pauses that are over. */
  readonly #pauses: { readonly from: number; readonly to: number }[] = [];
  #pausedAt = 0;
  #pausedMs = 0;
  #endedAt = Infinity;

  constructor(options: {
    readonly role: Role;
    readonly instance: number;
    readonly seed: number;
    readonly timeline: Timeline;
  }) {
    const { role, instance, seed, timeline } = options;
    this.role = role;
    this.name = `${role}-${instance}`;
    this.#timeline = timeline;
    this.startedAt = timeline.now;
    this.random = seededRandom(mix(seed, role === 'scheduler' ? 1 : 2, instance));
    this.clock = {
      now: () => Math.floor(startMs + timeline.now + this.#wallJumpMs),
      monotonic: () => this.#monotonic(),
      setTimer: (delayMs, callback) => this.#setTimer(delayMs, callback),
    };
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** It has ended because it lost its Lease. */
  get hasLostLease(): boolean {
    return this.#hasLostLease;
  }

  get isPaused(): boolean {
    return this.#held !== undefined;
  }

  get wasPaused(): boolean {
    return this.#wasPaused;
  }

  /** Reports whether it did not run at some moment between the two times. */
  wasStopped(from: number, to: number): boolean {
    if (!this.#isAlive && this.#endedAt <= to) return true;
    if (this.isPaused && this.#pausedAt <= to) return true;
    return this.#pauses.some((pause) => pause.from <= to && pause.to >= from);
  }

  /** Running time so far in milliseconds, without pauses. */
  get ranMs(): number {
    const { now } = this.#timeline;
    return now - this.#pausedMs - (this.isPaused ? now - this.#pausedAt : 0);
  }

  /** Delivers something from outside to the process: now, after the pause, or never. */
  deliver(what: () => void): void {
    if (!this.#isAlive) return;
    if (this.#held === undefined) what();
    else this.#held.push(what);
  }

  /** Runs the callback after pending I/O, as setImmediate does, and after everything else that arrives in that time. */
  defer(what: () => void, ms: number): void {
    this.#timeline.after(ms, () => this.deliver(what));
  }

  crash(why?: 'lost its Lease'): void {
    if (!this.#isAlive) return;
    this.#hasLostLease = why !== undefined;
    this.#isAlive = false;
    this.#endedAt = this.#timeline.now;
    this.#held = undefined;
    for (const notify of this.#onEnd) notify();
  }

  /** Registers a callback that runs once, after the crash. */
  onEnd(notify: () => void): void {
    this.#onEnd.push(notify);
  }

  pause(ms: number): void {
    if (!this.#isAlive || this.#held !== undefined) return;
    this.#held = [];
    this.#wasPaused = true;
    this.#pausedAt = this.#timeline.now;
    this.#timeline.after(ms, () => this.#resume());
  }

  jumpWallClock(ms: number): void {
    this.#wallJumpMs += ms;
  }

  #resume(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#pausedMs += this.#timeline.now - this.#pausedAt;
    this.#pauses.push({ from: this.#pausedAt, to: this.#timeline.now });
    // Deliver one by one, so that the consequences of each come before the next.
    for (const what of held) this.#timeline.after(0, () => this.deliver(what));
  }

  #setTimer(delayMs: number, callback: () => void): Timer {
    return this.#timeline.after(delayMs, () => this.deliver(callback));
  }

  /** Advances by a microsecond per call, so that loops that yield after a while do so. */
  #monotonic(): number {
    this.#lastMonotonic = Math.max(this.#timeline.now, this.#lastMonotonic + 0.001);
    return this.#lastMonotonic;
  }
}
