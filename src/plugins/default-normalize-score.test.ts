import { expect, it } from 'vitest';
import { defaultNormalizeScore } from './default-normalize-score.ts';

function normalized(scores: readonly number[], reverse: boolean): number[] {
  const result = Float64Array.from(scores);
  defaultNormalizeScore(result, reverse);
  return [...result];
}

it('the greatest raw score becomes 100 and the others keep their share, rounded down', () => {
  expect(normalized([0, 1, 2, 3], false)).toEqual([0, 33, 66, 100]);
});

it('reversed, the greatest becomes 0', () => {
  expect(normalized([0, 1, 2, 3], true)).toEqual([100, 67, 34, 0]);
});

it('all zeros stay zeros, or become 100 when reversed', () => {
  expect(normalized([0, 0], false)).toEqual([0, 0]);
  expect(normalized([0, 0], true)).toEqual([100, 100]);
});
