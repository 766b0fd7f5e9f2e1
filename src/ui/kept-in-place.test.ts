import fc from 'fast-check';
import { expect, it } from 'vitest';
import { keptInPlace } from './kept-in-place.ts';

it.each([
  ['nothing moves', [0, 1, 2, 3], [0, 1, 2, 3]],
  ['the first becomes the last', [1, 2, 3, 0], [0, 1, 2]],
  ['the last becomes the first', [3, 0, 1, 2], [1, 2, 3]],
  ['there are new ones', [-1, 0, -1, 1], [1, 3]],
  ['all are new', [-1, -1], []],
])('moves as few as possible when %s', (_, positions, kept) => {
  expect([...keptInPlace(positions)].sort()).toEqual(kept);
});

it('keeps those in their order, whatever moves', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(Array.from({ length: 30 }, (_, index) => index)), (positions) => {
      const kept = [...keptInPlace(positions)].sort((a, b) => a - b).map((index) => positions[index]!);
      expect(kept).toEqual(kept.toSorted((a, b) => a - b));
      // Erdős and Szekeres: a sequence has a rising or a falling part of this length.
      const falling = keptInPlace(positions.toReversed());
      expect(Math.max(kept.length, falling.size) ** 2).toBeGreaterThanOrEqual(positions.length);
    }),
  );
});
