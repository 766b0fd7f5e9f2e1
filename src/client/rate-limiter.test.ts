import { expect, test } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import type { Lane } from './lane.ts';
import { RateLimiter } from './rate-limiter.ts';

/** Records which calls started, in order. */
class Callers {
  readonly started: string[] = [];
  readonly #limiter: RateLimiter;

  constructor(limiter: RateLimiter) {
    this.#limiter = limiter;
  }

  call(lane: Lane, times = 1): void {
    for (let n = 0; n < times; n++) {
      const turn = this.#limiter.acquire(lane);
      if (turn === undefined) this.started.push(lane);
      else void turn.then(() => this.started.push(lane));
    }
  }

  count(lane: Lane): number {
    return this.started.filter((each) => each === lane).length;
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function advanceInSteps(clock: VirtualClock, ms: number, step = 100): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    clock.advance(step);
    await settled();
  }
}

test('starts a burst at once, the rest at the rate', async () => {
  const clock = new VirtualClock();
  const callers = new Callers(new RateLimiter({ clock, qps: 10, burst: 5 }));
  callers.call('bind', 30);
  await settled();
  expect(callers.started).toHaveLength(5);
  await advanceInSteps(clock, 1_000);
  expect(callers.started).toHaveLength(15);
});

test('saves unused tokens up to the burst', async () => {
  const clock = new VirtualClock();
  const callers = new Callers(new RateLimiter({ clock, qps: 10, burst: 5 }));
  callers.call('bind', 5);
  await settled();
  clock.advance(60_000);
  callers.call('bind', 20);
  await settled();
  expect(callers.started).toHaveLength(10);
});

test('never makes the lease wait, and takes no token for it', async () => {
  const clock = new VirtualClock();
  const callers = new Callers(new RateLimiter({ clock, qps: 1, burst: 1 }));
  callers.call('lease', 10);
  callers.call('bind', 3);
  callers.call('lease', 10);
  await settled();
  expect(callers.count('lease')).toBe(20);
  expect(callers.count('bind')).toBe(1);
  await advanceInSteps(clock, 2_000);
  expect(callers.count('bind')).toBe(3);
});

test('under load gives binds most of the rate, and every lane some', async () => {
  const clock = new VirtualClock();
  const callers = new Callers(new RateLimiter({ clock, qps: 100, burst: 1 }));
  for (const lane of ['event', 'condition', 'read', 'verdict', 'bind'] as const) callers.call(lane, 1_000);
  await advanceInSteps(clock, 3_300);
  expect(callers.count('bind')).toBeGreaterThan(150);
  expect(callers.count('verdict')).toBeGreaterThan(70);
  expect(callers.count('condition')).toBeGreaterThan(35);
  expect(callers.count('event')).toBeGreaterThan(5);
  expect(callers.count('event')).toBeLessThan(20);
});

test('saves no share for an idle lane, which cannot block the others when it returns', async () => {
  const clock = new VirtualClock();
  const callers = new Callers(new RateLimiter({ clock, qps: 100, burst: 1 }));
  callers.call('bind', 1_000);
  await advanceInSteps(clock, 5_000);
  const before = callers.count('bind');
  callers.call('event', 1_000);
  await advanceInSteps(clock, 1_000);
  expect(callers.count('bind') - before).toBeGreaterThan(80);
});

test('gives a single lane the whole rate', async () => {
  const clock = new VirtualClock();
  const callers = new Callers(new RateLimiter({ clock, qps: 100, burst: 1 }));
  callers.call('event', 1_000);
  await advanceInSteps(clock, 2_000);
  expect(callers.count('event')).toBeGreaterThanOrEqual(200);
});

test('takes no token for a call aborted while it waits', async () => {
  const clock = new VirtualClock();
  const limiter = new RateLimiter({ clock, qps: 1, burst: 1 });
  await limiter.acquire('bind');
  const controller = new AbortController();
  const aborted = limiter.acquire('bind', controller.signal);
  const other = limiter.acquire('event');
  controller.abort(new Error('leadership lost'));
  await expect(aborted).rejects.toThrow('leadership lost');
  clock.advance(1_000);
  await other;
  expect(clock.untilNextTimer()).toBeUndefined();
});

test('keeps no timer and no place in the queue for an aborted call', async () => {
  const clock = new VirtualClock();
  const limiter = new RateLimiter({ clock, qps: 1, burst: 1 });
  const controller = new AbortController();
  void limiter.acquire('bind');
  const aborted = [limiter.acquire('bind', controller.signal), limiter.acquire('event', controller.signal)];
  for (const turn of aborted) expect(turn).toBeInstanceOf(Promise);
  controller.abort(new Error('leadership lost'));
  for (const turn of aborted) await expect(turn).rejects.toThrow('leadership lost');
  await expect(limiter.acquire('bind', controller.signal)).rejects.toThrow('leadership lost');
  clock.advance(1_000);
  expect(clock.untilNextTimer()).toBeUndefined();
  expect(limiter.acquire('bind')).toBeUndefined();
});

test('makes no call wait without a rate', () => {
  const clock = new VirtualClock();
  const limiter = new RateLimiter({ clock, qps: 0, burst: 1 });
  for (let call = 0; call < 100; call++) expect(limiter.acquire('event')).toBeUndefined();
  expect(clock.untilNextTimer()).toBeUndefined();
});

test('returns no promise for a call that finds a token and an empty queue', () => {
  const clock = new VirtualClock();
  const limiter = new RateLimiter({ clock, qps: 10, burst: 2 });
  expect(limiter.acquire('event')).toBeUndefined();
  expect(limiter.acquire('bind')).toBeUndefined();
  expect(limiter.acquire('bind')).toBeInstanceOf(Promise);
});

test('gives a new token to the lane that is next, not to the latest call', async () => {
  const clock = new VirtualClock();
  const callers = new Callers(new RateLimiter({ clock, qps: 1, burst: 1 }));
  clock.setTimer(1_000, () => callers.call('event')); // before the limiter's own timer serves the token
  callers.call('event');
  callers.call('bind');
  clock.advance(1_000);
  await settled();
  expect(callers.started).toEqual(['event', 'bind']);
});

test('counts calls that did not wait towards the shares of later ones', async () => {
  const clock = new VirtualClock();
  const callers = new Callers(new RateLimiter({ clock, qps: 100, burst: 200 }));
  callers.call('bind', 200);
  callers.call('event', 100);
  callers.call('bind', 100);
  await advanceInSteps(clock, 200, 10);
  expect(callers.count('bind')).toBeGreaterThanOrEqual(217);
});
