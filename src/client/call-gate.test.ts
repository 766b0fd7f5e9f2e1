import { beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { BindPrecedence } from './bind-precedence.ts';
import { CallGate } from './call-gate.ts';
import type { Lane } from './lane.ts';
import { RateLimiter } from './rate-limiter.ts';

let clock: VirtualClock;
let precedence: BindPrecedence;
let gate: CallGate;
/** Lanes of the calls that started, in order. */
let started: Lane[];

beforeEach(() => {
  clock = new VirtualClock();
  precedence = new BindPrecedence({ clock });
  gate = new CallGate({ limiter: new RateLimiter({ clock, qps: 1, burst: 2 }), precedence });
  started = [];
});

function call(lane: Lane): void {
  const turn = gate.enter(lane);
  if (turn === undefined) started.push(lane);
  else void turn.then(() => started.push(lane));
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('returns no promise for a call that may start at once', () => {
  expect(gate.enter('condition')).toBeUndefined();
  expect(gate.enter('bind')).toBeUndefined();
});

test('makes a call wait for the binds before it takes a token', async () => {
  call('bind');
  call('verdict');
  expect(started).toEqual(['bind']);
  call('read'); // takes the token that the verdict would have taken
  gate.leave('bind');
  await settled();
  expect(started).toEqual(['bind', 'read']);
  clock.advance(1_000);
  await settled();
  expect(started).toEqual(['bind', 'read', 'verdict']);
});

test('counts a bind that waits for the rate limit as in flight, so that lanes that yield wait for it', async () => {
  call('read');
  call('read');
  call('bind');
  call('verdict');
  clock.advance(499);
  await settled();
  expect(started).toEqual(['read', 'read']);
  expect(precedence.held).toBe(1);
});

test('releases held calls when a bind that waits for the rate limit is aborted', async () => {
  call('read');
  call('read');
  const controller = new AbortController();
  const bind = gate.enter('bind', { signal: controller.signal });
  call('verdict');
  expect(precedence.held).toBe(1);
  controller.abort(new Error('leadership lost'));
  await expect(bind).rejects.toThrow('leadership lost');
  expect(precedence.held).toBe(0);
  clock.advance(1_000);
  await settled();
  expect(started).toEqual(['read', 'read', 'verdict']);
});

test('keeps nothing of a call that is aborted while binds hold it', async () => {
  const controller = new AbortController();
  call('bind');
  const event = gate.enter('event', { signal: controller.signal });
  controller.abort(new Error('leadership lost'));
  await expect(event).rejects.toThrow('leadership lost');
  expect(precedence.held).toBe(0);
  expect(clock.untilNextTimer()).toBeUndefined();
});
