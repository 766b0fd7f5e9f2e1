import { describe, expect, it } from 'vitest';
import { caseOf, caseProblems } from './case-problems.ts';
import type { CollectedTest } from './case-problems.ts';

const table = { t1: 'a.test.ts', CI2: 'b.test.ts' };

function collected(name: string, file: string, runs = true): CollectedTest {
  return { name, file, runs };
}

describe('caseProblems', () => {
  it('accepts a table whose cases each have one test, and ignores tests without a case', () => {
    const tests = [
      collected('t1 the older gang wins', 'a.test.ts'),
      collected('CI2', 'b.test.ts'),
      collected('t12th of many', 'a.test.ts'),
    ];
    expect(caseProblems(table, tests)).toEqual([]);
  });

  it.each([
    ['a case without a test', [], 't1: no test in a.test.ts'],
    ['a case whose test is elsewhere', [collected('t1 x', 'c.test.ts')], 't1: its test is in c.test.ts'],
    ['a case whose test is skipped', [collected('t1 x', 'a.test.ts', false)], 't1: its test in a.test.ts does not run'],
    ['two tests for a case', [collected('t1 x', 'a.test.ts'), collected('t1 y', 'c.test.ts')], 't1: 2 tests'],
    [
      'a test for a case that is not listed',
      [collected('t1 x', 'a.test.ts'), collected('X9 y', 'c.test.ts')],
      'X9: the test',
    ],
  ])('rejects %s', (_, tests, problem) => {
    const found = caseProblems(table, [...tests, collected('CI2 x', 'b.test.ts')]);
    expect(found).toContainEqual(expect.stringContaining(problem));
  });

  it('caseOf takes the id only as the whole first word', () => {
    expect(['t1 x', 't10: x', 'CI3', 'C1x', 'the C1', 'T1 x'].map(caseOf)).toEqual([
      't1',
      't10',
      'CI3',
      undefined,
      undefined,
      undefined,
    ]);
  });
});
