import { expect, it } from 'vitest';
import { formatAmount } from './format-amount.ts';

it.each([
  ['cpu', 8000, '8'],
  ['cpu', 1500, '1500m'],
  ['cpu', 0, '0'],
  ['cpu', -500, '-500m'],
  ['memory', 2 ** 31, '2Gi'],
  ['memory', 1500 * 2 ** 20, '1500Mi'],
  ['memory', 1000, '1k'],
  ['ephemeral-storage', 2 ** 40, '1Ti'],
  ['hugepages-2Mi', 2 ** 22, '4Mi'],
  ['pods', 110, '110'],
  ['nvidia.com/gpu', 8, '8'],
])('an amount of %s, %d, is written %s', (resource, amount, text) => {
  expect(formatAmount(resource, amount)).toBe(text);
});
