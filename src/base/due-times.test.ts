import { beforeEach, expect, it } from 'vitest';
import { DueTimes } from './due-times.ts';
import { VirtualClock } from './virtual-clock.ts';

let clock: VirtualClock;
let due: DueTimes<string>;
/** `key at time`, in order. */
let seen: string[];

beforeEach(() => {
  clock = new VirtualClock();
  seen = [];
  due = new DueTimes(clock, (key) => seen.push(`${key} at ${clock.monotonic()}`));
});

it('reports each key once, in the order of the times', () => {
  due.set('late', 30, undefined);
  due.set('soon', 10, undefined);
  due.set('later', 40, undefined);
  expect(due.has('soon')).toBe(true);
  clock.advance(30);
  expect(seen).toEqual(['soon at 10', 'late at 30']);
  expect(due.has('soon')).toBe(false);
  clock.advance(100);
  expect(seen).toHaveLength(3);
});

it('keeps the latest time of a key, earlier or later', () => {
  due.set('a', 20, undefined);
  due.set('a', 50, undefined);
  due.set('b', 50, undefined);
  due.set('b', 20, undefined);
  clock.advance(100);
  expect(seen).toEqual(['b at 20', 'a at 50']);
});

it('reports a key that is deleted and set again only at its new time', () => {
  due.set('a', 20, undefined);
  due.delete('a');
  due.set('a', 40, undefined);
  due.set('b', 20, undefined);
  due.delete('b');
  clock.advance(100);
  expect(seen).toEqual(['a at 40']);
});

it('reports keys that are overdue when they are set, and those set by the callback', () => {
  clock.advance(5);
  due = new DueTimes(clock, (key) => {
    seen.push(`${key} at ${clock.monotonic()}`);
    if (key === 'a') due.set('b', 0, undefined);
  });
  due.set('a', 0, undefined);
  clock.advance(0);
  expect(seen).toEqual(['a at 5', 'b at 5']);
});

it('reports nothing once it is cleared, and can be used again', () => {
  due.set('a', 20, undefined);
  due.clear();
  clock.advance(100);
  due.set('b', 120, undefined);
  clock.advance(100);
  expect(seen).toEqual(['b at 120']);
});

it('keeps the latest value of a key, and the order of keys that are due together', () => {
  const values = new DueTimes<string, number>(clock, (key, value) => seen.push(`${key} ${value}`));
  for (const key of ['c', 'a', 'b']) values.set(key, 10, 1);
  values.set('a', 10, 2);
  expect([values.get('a'), values.get('x')]).toEqual([2, undefined]);
  clock.advance(10);
  expect(seen).toEqual(['c 1', 'a 2', 'b 1']);
});
