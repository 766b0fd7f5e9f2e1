import { expect, test } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import type { Lane } from './lane.ts';
import { RateLimiter } from './rate-limiter.ts';

/** Records which calls were let go, in order. */
class Callers {
  readonly gone: string[] = [];
  readonly #limiter: RateLimiter;

  constructor(limiter: RateLimiter) {
    this.#limiter = limiter;
  }

  ask(lane: Lane, times = 1): void {
    for (let n = 0; n < times; n++) {
      const turn = this.#limiter.acquire(lane);
      if (turn === undefined) this.gone.push(lane);
      else void turn.then(() => this.gone.push(lane));
    }
  }

  count(lane: Lane): number {
    return this.gone.filter((each) => each === lane).length;
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function advanceInSteps(clock: VirtualClock, ms: number, step = 100): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    clock.advance(step);
    await settled();
  }
}

test('a burst goes at once, the rest at the rate', async () => {
  const clock = new VirtualClock();
  const callers = new Callers(new RateLimiter({ clock, qps: 10, burst: 5 }));
  callers.ask('bind', 30);
  await settled();
  expect(callers.gone).toHaveLength(5);
  await advanceInSteps(clock, 1_000);
  expect(callers.gone).toHaveLength(15);
});

test('what was not used in a quiet time is saved up to the burst, no further', async () => {
  const clock = new VirtualClock();
  const callers = new Callers(new RateLimiter({ clock, qps: 10, burst: 5 }));
  callers.ask('bind', 5);
  await settled();
  clock.advance(60_000);
  callers.ask('bind', 20);
  await settled();
  expect(callers.gone).toHaveLength(10);
});

test('the lease never waits and takes no token', async () => {
  const clock = new VirtualClock();
  const callers = new Callers(new RateLimiter({ clock, qps: 1, burst: 1 }));
  callers.ask('lease', 10);
  callers.ask('bind', 3);
  callers.ask('lease', 10);
  await settled();
  expect(callers.count('lease')).toBe(20);
  expect(callers.count('bind')).toBe(1);
  await advanceInSteps(clock, 2_000);
  expect(callers.count('bind')).toBe(3);
});

test('under pressure binds get most of the rate, and no lane gets nothing', async () => {
  const clock = new VirtualClock();
  const callers = new Callers(new RateLimiter({ clock, qps: 100, burst: 1 }));
  for (const lane of ['event', 'condition', 'read', 'verdict', 'bind'] as const) callers.ask(lane, 1_000);
  await advanceInSteps(clock, 3_300);
  expect(callers.count('bind')).toBeGreaterThan(150);
  expect(callers.count('verdict')).toBeGreaterThan(70);
  expect(callers.count('condition')).toBeGreaterThan(35);
  expect(callers.count('event')).toBeGreaterThan(5);
  expect(callers.count('event')).toBeLessThan(20);
});

test('a lane that was idle saves up no share: it does not shut the others out when it comes back', async () => {
  const clock = new VirtualClock();
  const callers = new Callers(new RateLimiter({ clock, qps: 100, burst: 1 }));
  callers.ask('bind', 1_000);
  await advanceInSteps(clock, 5_000);
  const before = callers.count('bind');
  callers.ask('event', 1_000);
  await advanceInSteps(clock, 1_000);
  expect(callers.count('bind') - before).toBeGreaterThan(80);
});

test('a lane alone gets the whole rate', async () => {
  const clock = new VirtualClock();
  const callers = new Callers(new RateLimiter({ clock, qps: 100, burst: 1 }));
  callers.ask('event', 1_000);
  await advanceInSteps(clock, 2_000);
  expect(callers.count('event')).toBeGreaterThanOrEqual(200);
});

test('a call given up while it waits uses no token', async () => {
  const clock = new VirtualClock();
  const limiter = new RateLimiter({ clock, qps: 1, burst: 1 });
  await limiter.acquire('bind');
  const controller = new AbortController();
  const given = limiter.acquire('bind', controller.signal);
  const kept = limiter.acquire('event');
  controller.abort(new Error('leadership lost'));
  await expect(given).rejects.toThrow('leadership lost');
  clock.advance(1_000);
  await kept;
  expect(clock.untilNextTimer()).toBeUndefined();
});

test('a call that is given up leaves no timer and no turn behind', async () => {
  const clock = new VirtualClock();
  const limiter = new RateLimiter({ clock, qps: 1, burst: 1 });
  const controller = new AbortController();
  void limiter.acquire('bind');
  const given = [limiter.acquire('bind', controller.signal), limiter.acquire('event', controller.signal)];
  for (const turn of given) expect(turn).toBeInstanceOf(Promise);
  controller.abort(new Error('leadership lost'));
  for (const turn of given) await expect(turn).rejects.toThrow('leadership lost');
  await expect(limiter.acquire('bind', controller.signal)).rejects.toThrow('leadership lost');
  clock.advance(1_000);
  expect(clock.untilNextTimer()).toBeUndefined();
  expect(limiter.acquire('bind')).toBeUndefined();
});

test('without a rate nothing waits', () => {
  const clock = new VirtualClock();
  const limiter = new RateLimiter({ clock, qps: 0, burst: 1 });
  for (let call = 0; call < 100; call++) expect(limiter.acquire('event')).toBeUndefined();
  expect(clock.untilNextTimer()).toBeUndefined();
});

test('a call that finds a token and nobody waiting goes without a promise', () => {
  const clock = new VirtualClock();
  const limiter = new RateLimiter({ clock, qps: 10, burst: 2 });
  expect(limiter.acquire('event')).toBeUndefined();
  expect(limiter.acquire('bind')).toBeUndefined();
  expect(limiter.acquire('bind')).toBeInstanceOf(Promise);
});

test('a token that came in meanwhile goes to whose turn it is, not to who asks first', async () => {
  const clock = new VirtualClock();
  const callers = new Callers(new RateLimiter({ clock, qps: 1, burst: 1 }));
  clock.setTimer(1_000, () => callers.ask('event')); // before the limiter's own timer hands the token out
  callers.ask('event');
  callers.ask('bind');
  clock.advance(1_000);
  await settled();
  expect(callers.gone).toEqual(['event', 'bind']);
});

test('what went without waiting counts towards the shares of those who wait later', async () => {
  const clock = new VirtualClock();
  const callers = new Callers(new RateLimiter({ clock, qps: 100, burst: 200 }));
  callers.ask('bind', 200);
  callers.ask('event', 100);
  callers.ask('bind', 100);
  await advanceInSteps(clock, 200, 10);
  expect(callers.count('bind')).toBeGreaterThanOrEqual(217);
});
