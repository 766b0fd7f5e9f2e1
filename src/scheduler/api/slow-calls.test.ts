import { describe, expect, it } from 'vitest';
import type { Clock, Timer } from '../../base/clock.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { SlowCalls } from './slow-calls.ts';
import type { RunningCall } from './slow-calls.ts';

const never = (): boolean => {
  throw new Error('notified about a call that is not slow');
};

function slowCalls(): { clock: VirtualClock; calls: SlowCalls; take: (...ms: number[]) => void } {
  const clock = new VirtualClock();
  const calls = new SlowCalls({ clock });
  /** Makes calls with these durations, one after another. */
  const take = (...durations: number[]): void => {
    for (const ms of durations) {
      const call = calls.sent(() => true);
      clock.advance(ms);
      calls.ended(call, true);
    }
  };
  return { clock, calls, take };
}

function times(count: number, ms: number): number[] {
  return Array.from({ length: count }, () => ms);
}

describe('the threshold for slow calls', () => {
  it.each<[string, number[], number]>([
    ['a second until enough calls have ended', times(7, 10), 1_000],
    ['a quarter of a second if calls take milliseconds', times(8, 10), 250],
    ['twice the 75th percentile', [...times(30, 200), ...times(10, 5_000)], 400],
    [
      'longer than the call timeout if more than a quarter of the calls hang',
      [...times(29, 100), ...times(11, 5_000)],
      10_000,
    ],
    ['based on the latest calls only', [...times(200, 5_000), ...times(64, 150)], 300],
  ])('is %s', (_name, durations, expected) => {
    const { calls, take } = slowCalls();
    take(...durations);
    expect(calls.thresholdMs).toBe(expected);
  });

  it('ignores calls that ended early', () => {
    const { calls, take } = slowCalls();
    take(...times(64, 200));
    for (let count = 0; count < 64; count++) calls.ended(calls.sent(never), false);
    expect(calls.thresholdMs).toBe(400);
  });
});

describe('a slow call', () => {
  it('is reported with its age, and again whenever the age has doubled, until it ends', () => {
    const { clock, calls, take } = slowCalls();
    take(...times(8, 10));
    const reported: number[] = [];
    const call = calls.sent((ms) => {
      reported.push(ms);
      return true;
    });
    clock.advance(1_300);
    calls.ended(call, true);
    clock.advance(10_000);
    expect(reported).toEqual([250, 500, 1_000]);
  });

  it('is reported again soon if the callback returns false', () => {
    const { clock, calls, take } = slowCalls();
    take(...times(8, 10));
    const reported: number[] = [];
    calls.sent((ms) => {
      reported.push(ms);
      return reported.length === 3;
    });
    clock.advance(600);
    expect(reported).toEqual([250, 300, 350]);
  });

  it('is measured against calls that ended after it was sent', () => {
    const { clock, calls, take } = slowCalls();
    const reported: number[] = [];
    calls.sent((ms) => {
      reported.push(ms);
      return true;
    });
    take(...times(20, 10));
    clock.advance(100);
    expect(reported).toEqual([250]);
  });

  it('leaves no timer behind', () => {
    const { clock, calls } = slowCalls();
    const call: RunningCall = calls.sent(() => true);
    clock.advance(60);
    calls.ended(call, true);
    expect(clock.untilNextTimer()).toBeUndefined();
  });

  it('is not reported after a block of the event loop, because its response may have arrived', () => {
    const clock = new LateClock();
    const calls = new SlowCalls({ clock });
    for (let count = 0; count < 8; count++) calls.ended(calls.sent(never), true);
    const answered = calls.sent(never);
    const reported: number[] = [];
    calls.sent((ms) => {
      reported.push(ms);
      return true;
    });
    clock.blockFor(2_000);
    calls.ended(answered, true);
    clock.blockFor(2_000);
    expect(reported).toEqual([4_000]);
  });
});

/** After a block of the event loop, each due timer fires once before anything else happens. */
class LateClock implements Clock {
  #now = 0;
  #timers = new Set<() => void>();

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  setTimer(_delayMs: number, callback: () => void): Timer {
    this.#timers.add(callback);
    return { cancel: () => void this.#timers.delete(callback) };
  }

  blockFor(ms: number): void {
    this.#now += ms;
    const due = [...this.#timers];
    this.#timers.clear();
    for (const callback of due) callback();
  }
}
