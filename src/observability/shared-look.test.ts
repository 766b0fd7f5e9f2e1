import { expect, it } from 'vitest';
import { sharedLook } from './shared-look.ts';

it('looks once for all who ask in one go, and again for those who ask later', async () => {
  let looks = 0;
  const look = sharedLook(() => ++looks);
  expect([look(), look()]).toEqual([1, 1]);
  await Promise.resolve();
  expect([look(), look()]).toEqual([2, 2]);
});
