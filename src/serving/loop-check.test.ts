import { expect, it } from 'vitest';
import { loopCheck } from './loop-check.ts';

it('fails once the scheduling loop has owed a turn for longer than a minute', () => {
  const loop = { overdueMs: 0 };
  const check = loopCheck(loop);
  expect(check.check()).toBe(true);
  loop.overdueMs = 60_000;
  expect(check.check()).toBe(true);
  loop.overdueMs = 61_000;
  expect(check.check()).toBe('it has not turned for 61 s');
});
