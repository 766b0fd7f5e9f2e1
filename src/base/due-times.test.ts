import { beforeEach, expect, it, vi } from 'vitest';
import { DueTimes } from './due-times.ts';
import { Heap } from './heap.ts';
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

it('knows how many keys are set, and when each becomes due', () => {
  expect([due.size, due.dueAt('a')]).toEqual([0, Infinity]);
  due.set('a', 20, undefined);
  due.set('b', 10, undefined);
  due.set('a', 50, undefined);
  expect([due.size, due.dueAt('a'), due.dueAt('b')]).toEqual([2, 50, 10]);
  expect([due.delete('a'), due.delete('a')]).toEqual([true, false]);
  expect([due.size, due.dueAt('a')]).toEqual([1, Infinity]);
});

it('reports nothing and runs no timer once it is stopped, even if the callback stops it', () => {
  due.set('a', 20, undefined);
  due.stop();
  due.set('b', 20, undefined);
  expect([due.size, clock.untilNextTimer()]).toEqual([0, undefined]);
  clock.advance(100);
  due = new DueTimes(clock, (key) => {
    seen.push(key);
    due.stop();
  });
  due.set('c', 120, undefined);
  due.set('d', 120, undefined);
  clock.advance(100);
  expect([seen, clock.untilNextTimer()]).toEqual([['c'], undefined]);
});

it('runs a timer only while a key is set, and after it fired only for keys that are still set', () => {
  for (const key of ['a', 'b', 'c']) due.set(key, 10, undefined);
  for (const key of ['a', 'b', 'c']) due.delete(key);
  expect(clock.untilNextTimer()).toBeUndefined();
  due.set('a', 10, undefined);
  due.set('b', 20, undefined);
  due.set('c', 30, undefined);
  due.delete('b');
  clock.advance(10);
  expect([seen, clock.untilNextTimer()]).toEqual([['a at 10'], 20]);
});

it('keeps little of keys that are no longer set, long before their time', () => {
  const pops = vi.spyOn(Heap.prototype, 'pop');
  due.set('first', 10, undefined);
  due.set('last', 3_000, undefined);
  for (let i = 0; i < 1_000; i++) {
    due.set('deleted', 1_000 + i, undefined);
    due.delete('deleted');
    due.set('earlier', 2_999 - i, undefined);
  }
  pops.mockClear();
  clock.advance(3_000);
  expect(seen).toEqual(['first at 10', 'earlier at 2000', 'last at 3000']);
  expect(pops.mock.calls.length).toBeLessThan(150);
  pops.mockRestore();
});

it('keeps the latest value of a key, and the order of keys that are due together', () => {
  const values = new DueTimes<string, number>(clock, (key, value) => seen.push(`${key} ${value}`));
  for (const key of ['c', 'a', 'b']) values.set(key, 10, 1);
  values.set('a', 10, 2);
  expect([values.get('a'), values.get('x'), values.values()]).toEqual([2, undefined, [1, 2, 1]]);
  clock.advance(10);
  expect(seen).toEqual(['c 1', 'a 2', 'b 1']);
});
