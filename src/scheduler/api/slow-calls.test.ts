import { describe, expect, it } from 'vitest';
import type { Clock, Timer } from '../../base/clock.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { SlowCalls } from './slow-calls.ts';
import type { CallUnderWay } from './slow-calls.ts';

const never = (): boolean => {
  throw new Error('told of a call that is not slow');
};

function slowCalls(): { clock: VirtualClock; calls: SlowCalls; take: (...ms: number[]) => void } {
  const clock = new VirtualClock();
  const calls = new SlowCalls({ clock });
  /** Calls that take so long, one after another. */
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

describe('from when on a call is slow', () => {
  it.each<[string, number[], number]>([
    ['a second, before enough have been answered', times(7, 10), 1_000],
    ['a quarter of a second where calls take milliseconds', times(8, 10), 250],
    ['twice what three quarters took', [...times(30, 200), ...times(10, 5_000)], 400],
    [
      'longer than a call may take at all, when more than a quarter hang',
      [...times(29, 100), ...times(11, 5_000)],
      10_000,
    ],
    ['what the latest say: the ones before count no more', [...times(200, 5_000), ...times(64, 150)], 300],
  ])('%s', (_name, durations, expected) => {
    const { calls, take } = slowCalls();
    take(...durations);
    expect(calls.thresholdMs).toBe(expected);
  });

  it('is not moved by what ended early', () => {
    const { calls, take } = slowCalls();
    take(...times(64, 200));
    for (let count = 0; count < 64; count++) calls.ended(calls.sent(never), false);
    expect(calls.thresholdMs).toBe(400);
  });
});

describe('a slow call', () => {
  it('is told of with its age, and again when it is twice as old, until it ends', () => {
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

  it('is told of again soon when nothing can be done about it now', () => {
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

  it('is judged by what others took meanwhile', () => {
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
    const call: CallUnderWay = calls.sent(() => true);
    clock.advance(60);
    calls.ended(call, true);
    expect(clock.untilNextTimer()).toBeUndefined();
  });

  it('is not told of when it was this process that stood still: its answer may be there already', () => {
    const clock = new LateClock();
    const calls = new SlowCalls({ clock });
    for (let count = 0; count < 8; count++) calls.ended(calls.sent(never), true);
    const answered = calls.sent(never);
    const reported: number[] = [];
    calls.sent((ms) => {
      reported.push(ms);
      return true;
    });
    clock.standStillFor(2_000);
    calls.ended(answered, true);
    clock.standStillFor(2_000);
    expect(reported).toEqual([4_000]);
  });
});

/** Timers fire when it is over that the process stood still, once each, before anything else happens. */
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

  standStillFor(ms: number): void {
    this.#now += ms;
    const due = [...this.#timers];
    this.#timers.clear();
    for (const callback of due) callback();
  }
}
