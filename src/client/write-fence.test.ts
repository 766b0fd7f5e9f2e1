import { beforeEach, expect, it } from 'vitest';
import { clockThatCountsSleep } from '../base/clock-that-counts-sleep.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { WriteFence } from './write-fence.ts';

/** A process's clocks, over a virtual one that is its monotonic time awake. */
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

it('lets writes through until its deadline, and none from then on', async () => {
  awake.advance(9_999);
  expect(await write()).toBe('sent');
  awake.advance(1);
  await expect(write()).rejects.toThrow('could not be renewed in time');
  expect(fence.signal.aborted).toBe(true);
});

it.each([3_600_000, -3_600_000])('does not go by a wall clock that is set by %i ms', async (ms) => {
  wallSetMs = ms;
  expect(await write()).toBe('sent');
  awake.advance(10_000);
  await expect(write()).rejects.toThrow('could not be renewed in time');
});

it('is closed for a process whose machine has slept over the deadline, before any timer has fired', async () => {
  sleptMs = 10_000;
  await expect(write()).rejects.toThrow('could not be renewed in time');
});

it('is closed for what waited in a blocked event loop, or on its way to the connection', async () => {
  const waiting = fence.pass(
    async (mayBeSent) => {
      await Promise.resolve();
      sleptMs = 10_000;
      mayBeSent();
      return 'sent';
    },
    () => false,
  );
  await expect(waiting).rejects.toThrow('could not be renewed in time');
});
