import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Heap } from './heap.ts';

interface Item {
  readonly value: number;
}

describe('Heap', () => {
  it('returns the least element after any sequence of push, pop and remove', () => {
    const command = fc.oneof(
      fc.record({ kind: fc.constant('push' as const), value: fc.integer({ min: 0, max: 9 }) }),
      fc.record({ kind: fc.constant('pop' as const), value: fc.constant(0) }),
      fc.record({ kind: fc.constant('remove' as const), value: fc.nat(20) }),
    );
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60, size: 'max' }), (commands) => {
        const heap = new Heap<Item>((a, b) => a.value - b.value);
        const items: Item[] = [];
        for (const { kind, value } of commands) {
          if (kind === 'push') {
            const item = { value };
            items.push(item);
            heap.push(item);
          } else if (kind === 'remove') {
            const item = items[value];
            expect(heap.remove(item ?? { value })).toBe(item !== undefined);
            if (item !== undefined) items.splice(value, 1);
          } else {
            const least = items.length === 0 ? undefined : Math.min(...items.map((item) => item.value));
            expect(heap.peek()?.value).toBe(least);
            const popped = heap.pop();
            expect(popped?.value).toBe(least);
            if (popped !== undefined) items.splice(items.indexOf(popped), 1);
          }
          expect(heap.size).toBe(items.length);
        }
        const rest = items.map((item) => item.value).sort((a, b) => a - b);
        expect(rest.map(() => heap.pop()?.value)).toEqual(rest);
        expect(heap.pop()).toBeUndefined();
      }),
    );
  });
});
