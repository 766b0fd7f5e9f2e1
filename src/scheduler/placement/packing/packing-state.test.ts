import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packingProblem, packingProblems } from '../testing/packing-problems.ts';
import { PackingBudget } from './packing-budget.ts';
import type { PackingProblem } from './packing-problem.ts';
import { PackingState } from './packing-state.ts';

function stateOf(problem: PackingProblem): { state: PackingState; budget: PackingBudget } {
  const budget = new PackingBudget();
  return { state: new PackingState(problem, budget), budget };
}

describe('PackingState', () => {
  it('returns how many members fit on what is left, at most as many as asked for', () => {
    const { state } = stateOf(packingProblem({ counts: [9], requests: [[2, 3]], free: [[10, 7]] }));
    expect([state.capacity(0, 0, 9), state.capacity(0, 0, 1)]).toEqual([2, 1]);
    state.add(0, 0, 1);
    expect([state.capacity(0, 0, 9), [...state.free[0]!], state.placed]).toEqual([1, [8, 4], 1]);
  });

  it('ignores overcommitted resources that a member does not request, and no others', () => {
    const { state } = stateOf(
      packingProblem({
        counts: [3, 3, 3],
        requests: [
          [0, 1],
          [1, 0],
          [0, 0],
        ],
        free: [[-4, 2]],
      }),
    );
    expect([0, 1, 2].map((index) => state.capacity(index, 0, 3))).toEqual([2, 0, 3]);
  });

  it('fits no member on a node that its class may not use', () => {
    const { state } = stateOf(packingProblem({ counts: [1], requests: [[0]], free: [[9], [9]], limits: [[0, 1]] }));
    expect([0, 1].map((node) => state.capacity(0, node, 1))).toEqual([0, 1]);
  });

  it('fits no more members on a node than the limit of their class', () => {
    const { state } = stateOf(packingProblem({ counts: [5], requests: [[1]], free: [[9]], limits: [[3]] }));
    expect(state.capacity(0, 0, 5)).toBe(3);
    state.add(0, 0, 2);
    expect(state.capacity(0, 0, 3)).toBe(1);
  });

  it('keeps classes apart in both directions, and a class from itself', () => {
    const { state } = stateOf(
      packingProblem({
        counts: [2, 2, 2],
        requests: [[1], [1], [1]],
        free: [[9], [9]],
        apart: [
          [0, 1],
          [2, 2],
        ],
      }),
    );
    const capacities = (): number[][] => [0, 1, 2].map((index) => [0, 1].map((node) => state.capacity(index, node, 2)));
    expect(capacities()).toEqual([
      [2, 2],
      [2, 2],
      [1, 1],
    ]);
    state.add(0, 0, 1);
    state.add(1, 1, 1);
    state.add(2, 1, 1);
    expect(capacities()).toEqual([
      [2, 0],
      [0, 2],
      [1, 0],
    ]);
  });

  it('counts each look, and each placement but no removal', () => {
    const { state, budget } = stateOf(packingProblem({ counts: [2], requests: [[1]], free: [[9]] }));
    budget.allow(2);
    state.capacity(0, 0, 1);
    expect(budget.isUsedUp).toBe(false);
    state.capacity(0, 0, 1);
    expect([budget.looks, budget.isUsedUp]).toEqual([0, true]);
    state.add(0, 0, 2);
    state.add(0, 0, -2);
    expect(budget.placements).toBe(1);
  });

  it('is as before when all members are removed, and leaves the problem unchanged', () => {
    fc.assert(
      fc.property(packingProblems, fc.array(fc.nat(), { maxLength: 20 }), (problem, draws) => {
        const before = structuredClone(problem);
        const { state } = stateOf(problem);
        const done: (readonly [number, number])[] = [];
        for (const draw of problem.free.length === 0 ? [] : draws) {
          const [index, node] = [draw % problem.classes.length, draw % problem.free.length];
          if (state.capacity(index, node, 1) === 0) continue;
          state.add(index, node, 1);
          done.push([index, node]);
        }
        expect(state.placed).toBe(done.length);
        for (const [index, node] of done) state.add(index, node, -1);
        expect(state.placed).toBe(0);
        expect(state.free).toEqual(before.free);
        expect(state.counts.every((counts) => counts.every((count) => count === 0))).toBe(true);
        expect(problem).toEqual(before);
      }),
    );
  });
});
