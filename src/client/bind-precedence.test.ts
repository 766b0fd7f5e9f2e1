import { getEventListeners } from 'node:events';
import { beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { BindPrecedence } from './bind-precedence.ts';
import type { Lane } from './lane.ts';

let clock: VirtualClock;
let precedence: BindPrecedence;
/** Names of the calls that started, in order. */
let started: string[];

beforeEach(() => {
  clock = new VirtualClock();
  precedence = new BindPrecedence({ clock });
  started = [];
});

function call(lane: Lane, name: string = lane, since?: number): void {
  const turn = precedence.enter(lane, since);
  if (turn === undefined) started.push(name);
  else void turn.then(() => started.push(name));
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function advance(ms: number): Promise<void> {
  clock.advance(ms);
  await settled();
}

test('starts every call at once while there are no binds', () => {
  for (const lane of ['verdict', 'condition', 'event', 'lease', 'read'] as const) {
    expect(precedence.enter(lane)).toBeUndefined();
  }
  expect(clock.untilNextTimer()).toBeUndefined();
});

test('holds verdicts, conditions and Events until the last bind ends, then starts them by lane and in order of arrival', async () => {
  call('bind');
  call('bind');
  for (const name of ['event 1', 'condition 1', 'verdict 1', 'event 2', 'verdict 2', 'condition 2']) {
    call(name.split(' ')[0] as Lane, name);
  }
  precedence.leave('bind');
  await settled();
  expect(started).toEqual(['bind', 'bind']);
  expect(precedence.held).toBe(6);

  precedence.leave('bind');
  await settled();
  expect(started.slice(2)).toEqual(['verdict 1', 'verdict 2', 'condition 1', 'condition 2']);
  await advance(100);
  expect(started.slice(6)).toEqual(['event 1', 'event 2']);
  expect(precedence.held).toBe(0);
  expect(clock.untilNextTimer()).toBeUndefined();
});

test('holds an Event until there was no bind for 100 ms', async () => {
  call('bind');
  precedence.leave('bind');
  await advance(60);
  call('event', 'early');
  call('condition');
  await advance(39);
  call('bind');
  await advance(50);
  precedence.leave('bind');
  await advance(99);
  expect(started).toEqual(['bind', 'condition', 'bind']);
  await advance(1);
  expect(started.slice(3)).toEqual(['early']);
  call('event', 'late');
  expect(started.slice(4)).toEqual(['late']);
});

test('limits a lane to a dozen concurrent calls, so that the next bind does not wait behind all of them', async () => {
  for (let index = 1; index <= 14; index++) call('condition', `condition ${index}`);
  call('verdict');
  expect(started).toHaveLength(13);
  expect(started.at(-1)).toBe('verdict');
  precedence.leave('condition');
  await settled();
  expect(started.slice(13)).toEqual(['condition 13']);
  call('bind');
  precedence.leave('condition');
  await settled();
  expect(started.slice(14)).toEqual(['bind']);
  precedence.leave('bind');
  await settled();
  expect(started.slice(15)).toEqual(['condition 14']);
  expect(clock.untilNextTimer()).toBeUndefined();
});

test('never holds binds, reads or Lease calls', () => {
  call('bind', 'first');
  for (const lane of ['bind', 'read', 'lease'] as const) call(lane);
  expect(started).toEqual(['first', 'bind', 'read', 'lease']);
});

test('does not mistake the end of another call for the end of a bind', async () => {
  call('bind');
  call('read');
  call('event');
  precedence.leave('read');
  await settled();
  expect(started).toEqual(['bind', 'read']);
});

test('limits the time that a call is held, counted from the start of its wait at the caller', async () => {
  await advance(10_000);
  call('bind');
  call('event', 'now');
  call('event', 'since 4 s', 6_000);
  call('event', 'since 5 s', 5_000);
  expect(started).toEqual(['bind', 'since 5 s']);
  await advance(999);
  expect(started).toHaveLength(2);
  await advance(1);
  expect(started.slice(2)).toEqual(['since 4 s']);
  await advance(4_000);
  expect(started.slice(3)).toEqual(['now']);
  expect(clock.untilNextTimer()).toBeUndefined();
});

test.each([
  ['verdict', 500],
  ['condition', 1_000],
  ['event', 5_000],
] as const)('holds a call of lane %s for %i ms at most', async (lane, ms) => {
  call('bind');
  call(lane);
  await advance(ms - 1);
  expect(started).toEqual(['bind']);
  await advance(1);
  expect(started).toEqual(['bind', lane]);
});

test('rejects an aborted call with its reason and keeps nothing of it', async () => {
  const controller = new AbortController();
  call('bind');
  const turns = [precedence.enter('event', undefined, controller.signal)];
  turns.push(precedence.enter('verdict', undefined, controller.signal));
  controller.abort(new Error('leadership lost'));
  turns.push(precedence.enter('condition', undefined, controller.signal));
  for (const turn of turns) await expect(turn).rejects.toThrow('leadership lost');
  expect(precedence.held).toBe(0);
  expect(clock.untilNextTimer()).toBeUndefined();
});

test('removes the abort listener of a call that started', async () => {
  const { signal } = new AbortController();
  call('bind');
  const turn = precedence.enter('event', undefined, signal);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  precedence.leave('bind');
  await advance(100);
  await turn;
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});
