import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IndexSet } from './index-set.ts';

const indexes = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 30 });

it('says and reads runs as status.completedIndexes has them', () => {
  expect(String(IndexSet.empty.with([3, 0, 5, 4, 9, 8]))).toBe('0,3-5,8,9');
  expect(String(IndexSet.parse('0,3-5,8,9', 10))).toBe('0,3-5,8,9');
  expect(String(IndexSet.parse('0,3-5,8', 5))).toBe('0,3,4');
  expect(String(IndexSet.parse('x,2-1,,1-,7', 10))).toBe('7');
  expect(IndexSet.parse('0-999999999', 1_000_000_000).size).toBe(1_000_000_000);
});

it('is the set of what was put in, whatever the order', () => {
  fc.assert(
    fc.property(indexes, indexes, fc.nat(50), fc.nat(50), (first, second, count, limit) => {
      const set = IndexSet.empty.with(first).with(second);
      const other = IndexSet.empty.with(second);
      const real = new Set([...first, ...second]);
      expect(set.size).toBe(real.size);
      for (let index = 0; index <= 41; index++) expect(set.has(index)).toBe(real.has(index));
      expect(String(IndexSet.parse(String(set), 100))).toBe(String(set));
      expect(String(IndexSet.empty.with(first).union(other))).toBe(String(set));
      expect(set.common(other)).toBe(new Set(second).size);
      const free = Array.from({ length: limit }, (_, index) => index).filter((index) => !real.has(index));
      expect(set.missing(count, limit)).toEqual(free.slice(0, count));
    }),
  );
});
