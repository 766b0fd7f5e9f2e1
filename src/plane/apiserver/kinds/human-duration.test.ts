import { expect, it } from 'vitest';
import { humanDuration } from './human-duration.ts';

const seconds = 1;
const minutes = 60;
const hours = 3600;
const days = 24 * hours;

it.each([
  [0, '0s'],
  [119 * seconds, '119s'],
  [2 * minutes, '2m'],
  [3 * minutes + 20, '3m20s'],
  [10 * minutes + 59, '10m'],
  [2 * hours + 59 * minutes, '179m'],
  [3 * hours, '3h'],
  [5 * hours + 3 * minutes, '5h3m'],
  [30 * hours, '30h'],
  [5 * days + 2 * hours, '5d2h'],
  [8 * days, '8d'],
  [400 * days, '400d'],
  [3 * 365 * days + 17 * days, '3y17d'],
  [9 * 365 * days, '9y'],
  [-60, '<invalid>'],
])('formats %d seconds as %s', (duration, text) => {
  expect(humanDuration(duration * 1000)).toBe(text);
});
