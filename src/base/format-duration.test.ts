import { expect, it } from 'vitest';
import { formatDuration } from './format-duration.ts';
import { parseDuration } from './parse-duration.ts';

it.each([
  [0, '0s'],
  [500, '0.5s'],
  [15_000, '15s'],
  [90_000, '1m30s'],
  [3_600_000, '1h'],
  [3_661_250, '1h1m1.25s'],
])('%i ms is %s, and reads back', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
  expect(parseDuration(text)).toBe(milliseconds);
});
