import { expect, it } from 'vitest';
import { sharedLook } from './shared-look.ts';

it('shares one result between calls in the same turn, and computes it again later', async () => {
  let looks = 0;
  const look = sharedLook(() => ++looks);
  expect([look(), look()]).toEqual([1, 1]);
  await Promise.resolve();
  expect([look(), look()]).toEqual([2, 2]);
});
