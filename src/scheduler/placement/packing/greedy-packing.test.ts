import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactPacking, packingProblem, packingProblemOf, packingProblems } from '../testing/packing-problems.ts';
import { largestRequestFirst } from './largest-request-first.ts';
import { PackingBudget } from './packing-budget.ts';
import type { PackingProblem } from './packing-problem.ts';
import type { PackingResult, PackingStrategy } from './packing-strategy.ts';
import { scarcestResourceFirst } from './scarcest-resource-first.ts';

function pack(
  strategy: PackingStrategy,
  problem: PackingProblem,
  looks = Infinity,
): PackingResult & { readonly left: number } {
  const budget = new PackingBudget();
  budget.allow(looks);
  return { ...strategy.pack(problem, budget), left: budget.looks };
}

/** Returns how many looks may follow the last one of a budget: for the best node of two members, and the classes on two others. */
function leastLooks({ classes, free }: PackingProblem): number {
  return 2 * free.length + classes.length + 4;
}

const nodesOf = ({ packing }: PackingResult): number[][] => packing.map((counts) => [...counts]);

describe.each([scarcestResourceFirst, largestRequestFirst])('$name', (strategy) => {
  it('returns packings that respect everything in the problem, and proves only what it found', () => {
    const counts = { enough: 0, missed: 0 };
    fc.assert(
      fc.property(packingProblems, (problem) => {
        const before = structuredClone(problem);
        const result = pack(strategy, problem);
        expect(packingProblemOf(problem, result.packing, result.placed)).toBeUndefined();
        expect(problem).toEqual(before);
        expect(result.placed).toBeLessThanOrEqual(Math.max(0, problem.needed));
        const isEnough = result.placed >= problem.needed;
        expect(result.isDecided).toBe(isEnough);
        if (isEnough) counts.enough++;
        else if (exactPacking(problem).kind === 'placed') counts.missed++;
      }),
      { numRuns: 3_000 },
    );
    // Moves and swaps leave few of these small problems unsolved.
    expect(counts.missed).toBeLessThan(counts.enough / 20);
  });

  it('returns such packings also when the budget is used up, and stops close to it', () => {
    fc.assert(
      fc.property(packingProblems, fc.integer({ min: 0, max: 60 }), (problem, looks) => {
        const { packing, placed, isDecided, left } = pack(strategy, problem, looks);
        expect(packingProblemOf(problem, packing, placed)).toBeUndefined();
        expect(isDecided).toBe(placed >= problem.needed);
        expect(left).toBeGreaterThan(-leastLooks(problem));
      }),
      { numRuns: 2_000 },
    );
  });

  it('stops close to the budget on many nodes with many classes, where making space never helps', () => {
    const [classes, nodes] = [300, 100];
    const problem = packingProblem({
      counts: Array.from({ length: classes }, () => 1),
      requests: Array.from({ length: classes }, (_, i) => [i === 0 ? 60 : 20, i % 7]),
      free: Array.from({ length: nodes }, () => [59, 9]),
    });
    for (const looks of [100, 40_000, 200_000]) {
      const { left, packing, placed } = pack(strategy, problem, looks);
      expect(left).toBeGreaterThan(-leastLooks(problem));
      expect(packingProblemOf(problem, packing, placed)).toBeUndefined();
    }
  });

  it('gives the same answer each time', () => {
    fc.assert(
      fc.property(packingProblems, (problem) => {
        expect(pack(strategy, problem)).toEqual(pack(strategy, problem));
      }),
    );
  });

  it('places nothing on no nodes, and nothing if nothing is needed', () => {
    expect(pack(strategy, packingProblem({ counts: [1], requests: [[1]], free: [] }))).toMatchObject({
      placed: 0,
      isDecided: false,
    });
    expect(pack(strategy, packingProblem({ counts: [1], requests: [[1]], free: [[9]], needed: 0 }))).toMatchObject({
      placed: 0,
      isDecided: true,
    });
  });

  it('uses the fullest node on which a member fits', () => {
    const problem = packingProblem({ counts: [1], requests: [[2]], free: [[9], [2], [3], [1]] });
    expect(nodesOf(pack(strategy, problem))).toEqual([[0, 1, 0, 0]]);
  });

  it('leaves the largest members of an elastic gang out', () => {
    const problem = packingProblem({ counts: [1, 2], requests: [[5], [1]], free: [[6]], needed: 2 });
    expect(nodesOf(pack(strategy, problem))).toEqual([[0], [2]]);
  });

  it('replaces members that do not fit by larger ones that do', () => {
    const problem = packingProblem({
      counts: [1, 2],
      requests: [[5], [1]],
      free: [[6]],
      needed: 2,
      apart: [[1, 1]],
    });
    expect(nodesOf(pack(strategy, problem))).toEqual([[1], [1]]);
  });

  it('moves a member to make space', () => {
    // The first class fills the fuller node, the only one of the second class.
    const problem = packingProblem({
      counts: [1, 1],
      requests: [[3], [2]],
      free: [[3], [4]],
      limits: [
        [99, 99],
        [99, 0],
      ],
    });
    expect(nodesOf(pack(strategy, problem))).toEqual([
      [0, 1],
      [1, 0],
    ]);
    expect(pack(strategy, problem, 3)).toMatchObject({ placed: 1, isDecided: false });
    expect(pack(strategy, problem, 0)).toMatchObject({ placed: 0, isDecided: false });
  });
  it('swaps two members to make space', () => {
    // The third class can only use the first node. The second leaves it for the second node, and the first that for the third.
    const problem = packingProblem({
      counts: [1, 1, 1],
      requests: [[3], [2], [1]],
      free: [[2], [3], [4]],
      limits: [
        [0, 99, 99],
        [99, 99, 0],
        [99, 0, 0],
      ],
    });
    expect(nodesOf(pack(strategy, problem))).toEqual([
      [0, 0, 1],
      [0, 1, 0],
      [1, 0, 0],
    ]);
  });
  it('puts members back that it has taken off a node in vain', () => {
    // The first class can only use the second node, the last class only the first. The second class fits on both while they are empty.
    const problem = packingProblem({
      counts: [1, 1, 1],
      requests: [[3], [2], [1]],
      free: [[2], [3]],
      limits: [
        [0, 9],
        [9, 9],
        [9, 0],
      ],
    });
    const [first, second, last] = [
      [0, 1],
      [1, 0],
      [0, 0],
    ];
    expect(nodesOf(pack(strategy, problem))).toEqual([first, second, last]);
    // A further class can only use the second node.
    const { classes } = problem;
    const further = { ...classes[2]!, limits: classes[0]!.limits };
    const apart = [...problem.apart, new Set<number>()];
    const larger = { ...problem, classes: [classes[0]!, classes[1]!, further, classes[2]!], needed: 4, apart };
    expect(nodesOf(pack(strategy, larger))).toEqual([first, second, last, last]);
  });
});
