import { expect, it } from 'vitest';
import type { Clock } from './clock.ts';
import { clockThatCountsSleep } from './clock-that-counts-sleep.ts';

/** A machine whose clocks the test sets, stops and resumes. */
class Machine {
  wall = 1_000_000;
  awake = 5;
  uptime = 70_000;

  passes(ms: number): void {
    this.wall += ms;
    this.awake += ms;
    this.uptime += ms;
  }

  sleeps(ms: number): void {
    this.wall += ms;
    this.uptime += ms;
  }

  get clock(): Clock {
    return { now: () => this.wall, monotonic: () => this.awake, setTimer: () => ({ cancel: () => undefined }) };
  }
}

function machine(): { machine: Machine; clock: Clock } {
  const machine = new Machine();
  return { machine, clock: clockThatCountsSleep(machine.clock, () => machine.uptime) };
}

it('includes the sleep of the machine, each time', () => {
  const { machine: it, clock } = machine();
  const start = clock.monotonic();
  it.passes(1_000);
  expect(clock.monotonic() - start).toBe(1_000);
  it.sleeps(60_000);
  expect(clock.monotonic() - start).toBe(61_000);
  it.passes(10);
  it.sleeps(2_000);
  it.passes(10);
  expect(clock.monotonic() - start).toBe(63_020);
});

it.each([3_600_000, -3_600_000, 499, -499])('ignores a change of the wall clock by %i ms', (ms) => {
  const { machine: it, clock } = machine();
  const start = clock.monotonic();
  it.passes(100);
  it.wall += ms;
  expect(clock.monotonic() - start).toBe(100);
  it.passes(100);
  expect(clock.monotonic() - start).toBe(200);
});

it('includes sleep during which the wall clock is set', () => {
  const { machine: it, clock } = machine();
  const start = clock.monotonic();
  it.sleeps(30_000);
  it.wall -= 3_600_000;
  expect(clock.monotonic() - start).toBe(30_000);
});

it('never goes back, even if the clocks diverge', () => {
  const { machine: it, clock } = machine();
  let latest = clock.monotonic();
  for (const [wall, uptime] of [
    [600, 0],
    [-700, 90],
    [900, -90],
    [-1_200, 120],
    [5_000, 5_000],
    [-9_000, -60],
  ] as const) {
    it.wall += wall;
    it.uptime += uptime;
    const now = clock.monotonic();
    expect(now).toBeGreaterThanOrEqual(latest);
    latest = now;
  }
});

it('ignores sleep until the wall clock shows it', () => {
  const { machine: it, clock } = machine();
  const start = clock.monotonic();
  it.uptime += 60_000; // a restored snapshot, before the wall clock is set
  expect(clock.monotonic() - start).toBe(0);
  it.wall += 60_000;
  expect(clock.monotonic() - start).toBe(60_000);
});
