import { expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { Misfits } from './misfits.ts';

const build = new Builders();
const expected = { memberPriority: 7 };

it('names the misfit with the lowest uid in any order of arrival, and keeps it while its reason stays', () => {
  const misfits = new Misfits();
  const check = (uid: string, priority = 0, otherGang?: string): void =>
    misfits.check(build.projectedPod({ uid, priority }), expected, otherGang);
  for (const uid of ['c', 'a', 'd', 'b']) check(uid);
  const { first } = misfits;
  expect([misfits.size, first]).toEqual([4, { uid: 'a', kind: 'priority', expected: 7 }]);
  check('a');
  expect(misfits.first).toBe(first);
  check('a', 0, 'other');
  expect(misfits.first).toEqual({ uid: 'a', kind: 'otherGang', key: 'other' });
  check('a', 7);
  expect([misfits.size, misfits.first?.uid]).toEqual([3, 'b']);
  misfits.remove('b');
  check('e');
  expect(misfits.first?.uid).toBe('c');
  check('a');
  expect(misfits.first?.uid).toBe('a');
  for (const uid of ['a', 'c', 'd', 'e']) misfits.remove(uid);
  expect([misfits.size, misfits.first]).toEqual([0, undefined]);
});
