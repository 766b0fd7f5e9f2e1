import { Buffer } from 'node:buffer';
import type { Random } from '../../src/base/random.ts';

/** Random draws of all kinds from one source of randomness. */
export class Draws {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Returns an integer from 0 to below `limit`. */
  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  /** Returns true once in `times` times on average. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  /** Returns one of the values with a probability proportional to its weight. */
  weighted<T>(choices: readonly (readonly [weight: number, value: T])[]): T {
    let left = this.below(choices.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, value] of choices) {
      if (left < weight) return value;
      left -= weight;
    }
    return choices[0]![1];
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.below(256)));
  }

  list<T>(most: number, make: (index: number) => T): T[] {
    return Array.from({ length: this.below(most + 1) }, (_, index) => make(index));
  }
}
