import { describe, expect, it } from 'vitest';
import { VirtualClock } from './virtual-clock.ts';

describe('VirtualClock', () => {
  it('fires timers in the order of their due time, then of their creation', () => {
    const clock = new VirtualClock(1000);
    const fired: string[] = [];
    const note = (name: string) => () => void fired.push(`${name} at ${clock.monotonic()}, ${clock.now()}`);
    clock.setTimer(20, note('late'));
    clock.setTimer(10, note('first'));
    clock.setTimer(10, note('second'));
    clock.advance(19);
    expect(fired).toEqual(['first at 10, 1010', 'second at 10, 1010']);
    clock.advance(1);
    expect(fired.at(-1)).toBe('late at 20, 1020');
  });

  it('fires timers that other timers create, if they become due in the same advance', () => {
    const clock = new VirtualClock();
    let fired = 0;
    const again = (): void => {
      fired++;
      clock.setTimer(10, again);
    };
    clock.setTimer(10, again);
    clock.advance(35);
    expect(fired).toBe(3);
    expect(clock.untilNextTimer()).toBe(5);
  });

  it('does not fire cancelled timers', () => {
    const clock = new VirtualClock();
    let fired = false;
    const timer = clock.setTimer(10, () => (fired = true));
    timer.cancel();
    timer.cancel();
    expect(clock.untilNextTimer()).toBeUndefined();
    clock.advance(10);
    expect(fired).toBe(false);
  });

  it('treats a negative delay as none', () => {
    const clock = new VirtualClock();
    let fired = false;
    clock.setTimer(-5, () => (fired = true));
    clock.advance(0);
    expect(fired).toBe(true);
  });
});
