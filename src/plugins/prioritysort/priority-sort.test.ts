import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Builders } from '../../testkit/builders/builders.ts';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';
import type { QueueKey } from '../../framework/scheduling-entity.ts';
import { createPrioritySort } from './priority-sort.ts';

const plugin = createPrioritySort({}, pluginHandle(new Builders()));
const key = (options: Partial<QueueKey>): QueueKey => ({
  priority: 0,
  readySince: 0,
  uid: 'm',
  incomplete: false,
  ...options,
});
const inOrder = (...keys: QueueKey[]): boolean => plugin.compare!(keys[0]!, keys[1]!) < 0;

describe('PrioritySort', () => {
  it('puts the higher priority first, however long the other entity has waited', () => {
    expect(inOrder(key({ priority: 5, readySince: 9 }), key({ priority: 4, readySince: 1 }))).toBe(true);
  });

  it('orders equal priorities by ready time', () => {
    expect(inOrder(key({ readySince: 1, uid: 'z' }), key({ readySince: 2, uid: 'a' }))).toBe(true);
  });

  it('breaks ties by uid', () => {
    expect(inOrder(key({ uid: 'a' }), key({ uid: 'b' }))).toBe(true);
    expect(plugin.compare!(key({}), key({}))).toBe(0);
  });

  it('puts a partially bound gang before entities of its priority that have waited longer', () => {
    expect(inOrder(key({ incomplete: true, readySince: 9 }), key({ readySince: 1 }))).toBe(true);
  });

  it('puts a higher priority before a partially bound gang', () => {
    expect(inOrder(key({ priority: 1 }), key({ incomplete: true, priority: 0 }))).toBe(true);
  });

  it('is a total order', () => {
    const keys = fc.record({
      priority: fc.integer({ min: -1, max: 1 }),
      readySince: fc.integer({ min: 0, max: 1 }),
      uid: fc.constantFrom('a', 'b', 'c'),
      incomplete: fc.boolean(),
    });
    fc.assert(
      fc.property(keys, keys, keys, (a, b, c) => {
        const compare = (x: QueueKey, y: QueueKey): number => Math.sign(plugin.compare!(x, y));
        expect(compare(a, b)).toBe(0 - compare(b, a));
        if (compare(a, b) <= 0 && compare(b, c) <= 0) expect(compare(a, c)).toBeLessThanOrEqual(0);
        if (compare(a, b) === 0) expect(a).toEqual(b);
      }),
    );
  });
});
