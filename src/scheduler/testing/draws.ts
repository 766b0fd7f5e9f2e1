import { seededRandom } from '../../base/random.ts';

/** Draws from a seed. */
export class Draws {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** Returns an integer; both ends are possible. */
  int(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from + 1));
  }

  pick<T>(of: readonly T[]): T {
    return of[this.int(0, of.length - 1)]!;
  }

  chance(p: number): boolean {
    return this.#random() < p;
  }

  /** Returns the items in another order. */
  shuffle<T>(of: readonly T[]): readonly T[] {
    const left = [...of];
    return of.map(() => left.splice(this.int(0, left.length - 1), 1)[0]!);
  }

  list<T>(length: number, draw: (index: number) => T): readonly T[] {
    return Array.from({ length }, (_, index) => draw(index));
  }
}
