import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toResourceList } from '../api/resource-list.ts';
import type { ResourceList } from '../api/resource-list.ts';
import { commonResources, ResourceNames } from '../api/resource-names.ts';
import { Amounts } from './amounts.ts';

// Half of them are rare.
const resources = Array.from({ length: 2 * commonResources }, (_, i) => `example.com/r${i}`);
const list = fc.dictionary(fc.constantFrom(...resources), fc.integer({ min: 1, max: 9 }), { maxKeys: 6 });

it('amounts equal the sum of the current lists after any additions and removals', () => {
  fc.assert(
    fc.property(fc.array(list, { maxLength: 8 }), fc.infiniteStream(fc.nat(7)), (raw, choices) => {
      const names = new ResourceNames();
      for (const name of resources) names.idOf(name);
      const lists = raw.map((amounts) => toResourceList(new Map(Object.entries(amounts)), names));
      const amounts = new Amounts();
      const isIn = lists.map(() => false);
      for (const which of [...choices.take(24)].filter((each) => each < lists.length)) {
        isIn[which] = !isIn[which];
        if (isIn[which]) amounts.add(lists[which]!);
        else amounts.subtract(lists[which]!);
        const sum = sumOf(lists.filter((_, i) => isIn[i]));
        expect(amounts.entries()).toEqual([...sum].sort(([a], [b]) => a - b));
        for (const name of resources) expect(amounts.of(names.idOf(name))).toBe(sum.get(names.idOf(name)) ?? 0);
      }
    }),
  );
});

it('amounts beyond the exact range leave no remainder', () => {
  const names = new ResourceNames();
  for (const name of resources) names.idOf(name);
  const of = (amount: number): ResourceList => toResourceList(new Map([[resources.at(-1)!, amount]]), names);
  const amounts = new Amounts();
  const [huge, odd] = [of(2 ** 60), of(2 ** 53 + 2)];
  amounts.add(odd);
  amounts.add(huge);
  amounts.add(of(1));
  amounts.subtract(of(1));
  amounts.subtract(odd);
  amounts.subtract(huge);
  expect(amounts.entries()).toEqual([]);
});

function sumOf(lists: readonly ResourceList[]): ReadonlyMap<number, number> {
  const sum = new Map<number, number>();
  for (const { ids, amounts } of lists) ids.forEach((id, i) => sum.set(id, (sum.get(id) ?? 0) + amounts[i]!));
  return sum;
}
