import { seededRandom } from '../../src/base/random.ts';
import { mix } from './world/mix.ts';

/** The random draws of one scenario. */
export class Dice {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(mix(seed, 0));
  }

  /** Returns an integer; both bounds are inclusive. */
  int(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from + 1));
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)]!;
  }

  some<T>(min: number, max: number, make: (i: number) => T): T[] {
    return Array.from({ length: this.int(min, max) }, (_, i) => make(i));
  }
}
