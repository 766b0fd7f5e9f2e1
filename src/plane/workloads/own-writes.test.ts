import { expect, it } from 'vitest';
import { OwnWrites } from './own-writes.ts';
import type { WrittenObject } from './own-writes.ts';

interface Thing extends WrittenObject {
  readonly says: string;
}

const thing = (resourceVersion: number, says: string, uid = 'u'): Thing => ({
  key: 'a/b',
  uid,
  resourceVersion: String(resourceVersion),
  says,
});

function setUp(known?: Thing): { writes: OwnWrites<Thing>; cache: Map<string, Thing>; clock: { now: number } } {
  const cache = new Map<string, Thing>(known === undefined ? [] : [[known.key, known]]);
  const clock = { now: 0 };
  return { writes: new OwnWrites<Thing>(cache, () => clock.now), cache, clock };
}

it('a write counts until the watch shows as much', () => {
  const old = thing(9, 'old');
  const { writes, cache } = setUp(old);
  writes.changed(thing(10, 'ours'));
  expect(writes.newest(old)?.says).toBe('ours');
  const between = thing(9, 'older than ours');
  cache.set(between.key, between);
  writes.saw(between);
  expect(writes.newest(between)?.says).toBe('ours');
  const newer = thing(11, 'theirs');
  cache.set(newer.key, newer);
  writes.saw(newer);
  expect(writes.newest(newer)).toBe(newer);
});

it('what was made is there before the watch shows it, and what was seen gone does not come back', () => {
  const { writes, cache } = setUp();
  writes.created(thing(5, 'made'));
  expect([...writes.unseen()].map(({ says }) => says)).toEqual(['made']);
  writes.sawGone(thing(6, 'made'));
  expect([...writes.unseen()]).toEqual([]);
  // The answer of a call comes after the watch has shown that the object is gone.
  writes.changed(thing(7, 'late'));
  expect([...writes.unseen()]).toEqual([]);
  const known = thing(8, 'seen first');
  cache.set(known.key, known);
  writes.created(known);
  expect(writes.newest(known)).toBe(known);
});

it('what is gone stays so until another one has its name', () => {
  const old = thing(9, 'old');
  const { writes } = setUp(old);
  writes.gone(old);
  expect(writes.newest(old)).toBeUndefined();
  const other = thing(12, 'other', 'v');
  expect(writes.newest(other)).toBe(other);
  writes.saw(other);
  expect(writes.overdue(0)).toEqual([]);
});

it('what the watch has not shown for long is asked for', () => {
  const { writes, clock } = setUp();
  writes.created(thing(5, 'made'));
  clock.now = 29;
  expect(writes.overdue(30)).toEqual([]);
  clock.now = 30;
  expect(writes.overdue(30).map(({ says }) => says)).toEqual(['made']);
  writes.forget(thing(5, 'made'));
  expect([...writes.unseen()]).toEqual([]);
});
