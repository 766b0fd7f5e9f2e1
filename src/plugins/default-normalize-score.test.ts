import { expect, it } from 'vitest';
import { defaultNormalizeScore } from './default-normalize-score.ts';

function normalized(scores: readonly number[], reverse: boolean): number[] {
  const result = Float64Array.from(scores);
  defaultNormalizeScore(result, reverse);
  return [...result];
}

it('scales the highest raw score to 100 and the others in proportion, rounded down', () => {
  expect(normalized([0, 1, 2, 3], false)).toEqual([0, 33, 66, 100]);
});

it('maps the highest score to 0 when reversed', () => {
  expect(normalized([0, 1, 2, 3], true)).toEqual([100, 67, 34, 0]);
});

it('keeps zeros if all scores are 0, or maps them to 100 when reversed', () => {
  expect(normalized([0, 0], false)).toEqual([0, 0]);
  expect(normalized([0, 0], true)).toEqual([100, 100]);
});
