import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactPacking, packingProblem, packingProblemOf, packingProblems } from '../testing/packing-problems.ts';
import { PackingBudget } from './packing-budget.ts';
import type { PackingProblem } from './packing-problem.ts';
import { packingSearch } from './packing-search.ts';
import type { PackingResult } from './packing-strategy.ts';

function search(problem: PackingProblem, looks = Infinity): PackingResult & { readonly left: number } {
  const budget = new PackingBudget();
  budget.allow(looks);
  return { ...packingSearch.pack(problem, budget), left: budget.looks };
}

/** Two nodes of different shape, on which hardest first and best fit fails. */
const onlyOneWay = packingProblem({
  counts: [2, 2],
  requests: [
    [3, 1],
    [1, 3],
  ],
  free: [
    [4, 4],
    [4, 4],
  ],
});

describe('the search', () => {
  it('agrees with the exact solver of the tests', () => {
    const counts = { placed: 0, none: 0, unknown: 0 };
    fc.assert(
      fc.property(packingProblems, (problem) => {
        const { packing, placed, isDecided } = search(problem);
        const exact = exactPacking(problem).kind;
        counts[exact]++;
        expect(packingProblemOf(problem, packing, placed)).toBeUndefined();
        expect(isDecided).toBe(true);
        if (exact !== 'unknown') expect(placed >= problem.needed ? 'placed' : 'none').toBe(exact);
        if (exact === 'none') expect(placed).toBe(0);
      }),
      { numRuns: 5_000 },
    );
    expect(counts.unknown).toBe(0);
    expect(Math.min(counts.placed, counts.none)).toBeGreaterThan(10);
  });

  it('never claims a proof that a larger budget refutes, and stops close to the budget', () => {
    fc.assert(
      fc.property(packingProblems, fc.integer({ min: 0, max: 60 }), (problem, looks) => {
        const limited = search(problem, looks);
        const full = search(problem);
        expect(packingProblemOf(problem, limited.packing, limited.placed)).toBeUndefined();
        if (limited.isDecided) {
          expect([limited.placed, limited.packing]).toEqual([full.placed, full.packing]);
        } else {
          expect(limited.placed).toBe(0);
        }
        // What one class may cost on all nodes, before the search looks at the budget again.
        const resources = problem.free[0]?.length ?? 0;
        const step = (problem.classes.length + 1) * problem.free.length + resources + 1;
        expect(limited.left).toBeGreaterThanOrEqual(Math.min(looks, 0) - 2 * step);
      }),
      { numRuns: 2_000 },
    );
  });

  it('finds the only packing', () => {
    const { packing, placed } = search(onlyOneWay);
    expect([placed, packing.map((counts) => [...counts])]).toEqual([
      4,
      [
        [1, 1],
        [1, 1],
      ],
    ]);
  });

  it('gives the same answer each time', () => {
    expect(search(onlyOneWay)).toEqual(search(onlyOneWay));
  });

  it('places nothing and claims nothing when the budget is used up', () => {
    expect(search(onlyOneWay, 0)).toMatchObject({ placed: 0, isDecided: false });
  });

  it('places nothing and claims nothing for a problem that is too large', () => {
    const many = packingProblem({ counts: [257], requests: [[1]], free: [[257]] });
    expect(search(many)).toMatchObject({ placed: 0, isDecided: false });
    const nodes = Array.from({ length: 2_049 }, () => [1]);
    const wide = packingProblem({ counts: [1, 1], requests: [[1], [1]], free: nodes });
    expect(search(wide)).toMatchObject({ placed: 0, isDecided: false });
  });

  it('proves that too few members cannot be enough', () => {
    const problem = packingProblem({ counts: [2], requests: [[1]], free: [[9]], needed: 3 });
    expect(search(problem)).toMatchObject({ placed: 0, isDecided: true });
  });

  it.each([
    ['no member is needed', packingProblem({ counts: [1], requests: [[5]], free: [[1]], needed: 0 }), 0],
    [
      'no member is needed and there is no node',
      packingProblem({ counts: [1], requests: [[1]], free: [], needed: 0 }),
      0,
    ],
    ['there is no class', packingProblem({ counts: [], requests: [], free: [[1]] }), 0],
    ['nothing is requested', packingProblem({ counts: [2, 2], requests: [[0], [0]], free: [[-1]] }), 4],
  ])('succeeds if %s', (_, problem, placed) => {
    expect(search(problem)).toMatchObject({ placed, isDecided: true });
  });

  it('proves that no member fits without nodes', () => {
    expect(search(packingProblem({ counts: [1], requests: [[1]], free: [] }))).toMatchObject({
      placed: 0,
      isDecided: true,
    });
  });

  it('does not take nodes for alike that differ for a later class', () => {
    // The first class is harder. It must leave the second node to the second class.
    const problem = packingProblem({
      counts: [1, 1],
      requests: [[2], [1]],
      free: [[2], [2]],
      limits: [
        [99, 99],
        [99, 0],
      ],
    });
    expect(search(problem)).toMatchObject({ placed: 2, isDecided: true });
    const conflict = packingProblem({
      counts: [1, 1, 2],
      requests: [[3], [2], [1]],
      free: [[5], [5]],
      apart: [
        [0, 2],
        [0, 1],
      ],
    });
    expect(search(conflict)).toMatchObject({ placed: 4, isDecided: true });
  });
});
