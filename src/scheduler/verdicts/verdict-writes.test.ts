import { expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { VerdictWrites } from './verdict-writes.ts';
import type { WriteEnd } from './verdict-writes.ts';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('drops any number of failed writes whose verdicts the pods carry by now', async () => {
  const clock = new VirtualClock();
  let isOutage = true;
  let looks = 0;
  const writes = new VerdictWrites({
    clock,
    write: (): Promise<() => WriteEnd> | undefined => {
      looks++;
      return isOutage ? Promise.reject(new Error('the response is lost')) : undefined;
    },
    goesFirst: () => false,
    onError: () => undefined,
  });
  const count = 100_000;
  for (let index = 0; index < count; index++) writes.add(`uid-${index}`);
  while (looks < count) await settle();
  await settle();
  isOutage = false;
  clock.advance(60_000);
  expect(looks).toBe(2 * count);
});
