import type { Clock, Timer } from '../../../src/base/clock.ts';
import type { Random } from '../../../src/base/random.ts';
import { seededRandom } from '../../../src/base/random.ts';
import { mix } from './mix.ts';
import type { Timeline } from './timeline.ts';

export type Role = 'scheduler' | 'controller';

/** Wall-clock time at which every run begins. */
export const startMs = Date.UTC(2026, 0, 1);

/**
 * One process of the product: what it is told of time and of answers comes through here, so that it can be stopped for a while as by a
 * long garbage collection, or be gone from one moment to the next. One that is gone is told nothing more, and nothing it does reaches anybody.
 */
export class SimulatedProcess {
  readonly role: Role;
  /** `scheduler-2`: the second one that was started. */
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly #timeline: Timeline;
  #wallJumpMs = 0;
  #lastMonotonic = 0;
  #isAlive = true;
  /** What came while it was paused; undefined while it runs. */
  #held: (() => void)[] | undefined;
  readonly #onEnd: (() => void)[] = [];
  #wasPaused = false;
  #pausedAt = 0;
  #pausedMs = 0;

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

  get isPaused(): boolean {
    return this.#held !== undefined;
  }

  get wasPaused(): boolean {
    return this.#wasPaused;
  }

  /** How long it has run by now, ms: without the time for which it was paused. */
  get ranMs(): number {
    const { now } = this.#timeline;
    return now - this.#pausedMs - (this.isPaused ? now - this.#pausedAt : 0);
  }

  /** Something from outside reaches the process: now, when it goes on, or never. */
  deliver(what: () => void): void {
    if (!this.#isAlive) return;
    if (this.#held === undefined) what();
    else this.#held.push(what);
  }

  /** After pending I/O, as setImmediate does, and whatever else comes in that time. */
  defer(what: () => void, ms: number): void {
    this.#timeline.after(ms, () => this.deliver(what));
  }

  crash(): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#held = undefined;
    for (const tell of this.#onEnd) tell();
  }

  /** Called once, when it has crashed. */
  onEnd(tell: () => void): void {
    this.#onEnd.push(tell);
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
    // One by one, so that each is followed by what it leads to.
    for (const what of held) this.#timeline.after(0, () => this.deliver(what));
  }

  #setTimer(delayMs: number, callback: () => void): Timer {
    return this.#timeline.after(delayMs, () => this.deliver(callback));
  }

  /** Goes on by a microsecond at each look, so that loops that give way after a while do. */
  #monotonic(): number {
    this.#lastMonotonic = Math.max(this.#timeline.now, this.#lastMonotonic + 0.001);
    return this.#lastMonotonic;
  }
}
