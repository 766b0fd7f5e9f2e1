import { beforeEach, expect, it } from 'vitest';
import { clockThatCountsSleep } from '../base/clock-that-counts-sleep.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { WriteFence } from './write-fence.ts';

/** The clocks of a process. This virtual clock is its monotonic time without sleep. */
let awake: VirtualClock;
let sleptMs: number;
let wallSetMs: number;
let fence: WriteFence;

beforeEach(() => {
  awake = new VirtualClock();
  sleptMs = 0;
  wallSetMs = 0;
  const clock = {
    now: () => awake.now() + sleptMs + wallSetMs,
    monotonic: () => awake.monotonic(),
    setTimer: awake.setTimer.bind(awake),
  };
  const counting = clockThatCountsSleep(clock, () => awake.monotonic() + sleptMs + 5_000);
  fence = new WriteFence(counting);
  fence.openUntil(counting.monotonic() + 10_000);
});

const write = (): Promise<string> =>
  fence.pass(
    (mayBeSent) => {
      mayBeSent();
      return Promise.resolve('sent');
    },
    () => false,
  );

it('lets writes through until its deadline, and rejects them from then on', async () => {
  awake.advance(9_999);
  expect(await write()).toBe('sent');
  awake.advance(1);
  await expect(write()).rejects.toThrow('was not renewed in time');
  expect(fence.signal.aborted).toBe(true);
});

it.each([3_600_000, -3_600_000])('ignores a change of the wall clock by %i ms', async (ms) => {
  wallSetMs = ms;
  expect(await write()).toBe('sent');
  awake.advance(10_000);
  await expect(write()).rejects.toThrow('was not renewed in time');
});

it('is closed after the machine slept past the deadline, before any timer has fired', async () => {
  sleptMs = 10_000;
  await expect(write()).rejects.toThrow('was not renewed in time');
});

it('is closed for a write that was delayed by a blocked event loop or on its way to the connection', async () => {
  const waiting = fence.pass(
    async (mayBeSent) => {
      await Promise.resolve();
      sleptMs = 10_000;
      mayBeSent();
      return 'sent';
    },
    () => false,
  );
  await expect(waiting).rejects.toThrow('was not renewed in time');
});
