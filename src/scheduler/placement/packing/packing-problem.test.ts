import { describe, expect, it } from 'vitest';
import { packingProblem } from '../testing/packing-problems.ts';
import { scarcestShare, totalFree, totalShare } from './packing-problem.ts';

describe('totalFree', () => {
  it('sums what is free, without overcommitted nodes, and is at least 1', () => {
    const free = [
      [4, -3, 0],
      [5, 2, -1],
    ];
    expect(totalFree(packingProblem({ counts: [], requests: [], free }))).toEqual([9, 2, 1]);
  });

  it('is empty without nodes', () => {
    expect(totalFree(packingProblem({ counts: [1], requests: [[1]], free: [] }))).toEqual([]);
  });
});

describe('the shares of a class', () => {
  const { classes } = packingProblem({ counts: [1], requests: [[2, 3, 0]], free: [[8, 4, 1]] });
  const totals = [8, 4, 1];

  it('are those of the scarcest resource', () => {
    expect(scarcestShare(classes[0]!, totals)).toBe(0.75);
  });

  it('are those of all resources together', () => {
    expect(totalShare(classes[0]!, totals)).toBe(1);
  });
});
