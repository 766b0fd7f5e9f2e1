import { beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { BindPrecedence } from './bind-precedence.ts';
import { CallGate } from './call-gate.ts';
import type { Lane } from './lane.ts';
import { RateLimiter } from './rate-limiter.ts';

let clock: VirtualClock;
let precedence: BindPrecedence;
let gate: CallGate;
/** Lanes of the calls that went, in order. */
let gone: Lane[];

beforeEach(() => {
  clock = new VirtualClock();
  precedence = new BindPrecedence({ clock });
  gate = new CallGate({ limiter: new RateLimiter({ clock, qps: 1, burst: 2 }), precedence });
  gone = [];
});

function call(lane: Lane): void {
  const turn = gate.enter(lane);
  if (turn === undefined) gone.push(lane);
  else void turn.then(() => gone.push(lane));
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a call that nothing holds up goes without a promise', () => {
  expect(gate.enter('condition')).toBeUndefined();
  expect(gate.enter('bind')).toBeUndefined();
});

test('a call waits for the binds first, and takes its token only then', async () => {
  call('bind');
  call('verdict');
  expect(gone).toEqual(['bind']);
  call('read'); // has the token that the verdict would have taken
  gate.leave('bind');
  await settled();
  expect(gone).toEqual(['bind', 'read']);
  clock.advance(1_000);
  await settled();
  expect(gone).toEqual(['bind', 'read', 'verdict']);
});

test('a bind that waits for the rate is under way: nothing that gives way goes before it', async () => {
  call('read');
  call('read');
  call('bind');
  call('verdict');
  clock.advance(499);
  await settled();
  expect(gone).toEqual(['read', 'read']);
  expect(precedence.held).toBe(1);
});

test('a bind given up while it waits for the rate holds nobody up any longer', async () => {
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
  expect(gone).toEqual(['read', 'read', 'verdict']);
});

test('a call given up while binds hold it leaves nothing behind', async () => {
  const controller = new AbortController();
  call('bind');
  const event = gate.enter('event', { signal: controller.signal });
  controller.abort(new Error('leadership lost'));
  await expect(event).rejects.toThrow('leadership lost');
  expect(precedence.held).toBe(0);
  expect(clock.untilNextTimer()).toBeUndefined();
});
