import { expect, it } from 'vitest';
import { loopCheck } from './loop-check.ts';

it('fails once the scheduling loop is overdue for more than a minute', () => {
  const loop = { overdueMs: 0 };
  const check = loopCheck(loop);
  expect(check.check()).toBe(true);
  loop.overdueMs = 60_000;
  expect(check.check()).toBe(true);
  loop.overdueMs = 61_000;
  expect(check.check()).toBe('the scheduling loop has made no progress for 61 s');
});
