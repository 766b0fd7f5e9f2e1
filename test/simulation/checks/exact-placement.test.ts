import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/base/random.ts';
import { placeExactly } from './exact-placement.ts';
import type { MemberKind, Placement, PlacementProblem } from './exact-placement.ts';

const maxSteps = 200_000;

function kindOf(count: number, amounts: readonly number[], nodes: number): MemberKind {
  return { count, amounts, mayUse: Array.from({ length: nodes }, () => true) };
}

/** Tries all placements of the members one by one, without any pruning. */
function fitsByForce({ kinds, free, needed, accepts = () => true }: Omit<PlacementProblem, 'maxSteps'>): boolean {
  const members = kinds.flatMap(({ count }, kind) => Array.from({ length: count }, () => kind));
  const left = free.map((amounts) => [...amounts]);
  const placement = kinds.map(() => free.map(() => 0));
  const tryFrom = (at: number, placed: number): boolean => {
    if (at === members.length) return placed >= needed && accepts(placement);
    const kind = members[at]!;
    const { amounts, mayUse } = kinds[kind]!;
    for (let node = 0; node < free.length; node++) {
      if (!mayUse[node]! || amounts.some((amount, i) => amount > 0 && amount > left[node]![i]!)) continue;
      amounts.forEach((amount, i) => (left[node]![i]! -= amount));
      placement[kind]![node]!++;
      const fits = tryFrom(at + 1, placed + 1);
      placement[kind]![node]!--;
      amounts.forEach((amount, i) => (left[node]![i]! += amount));
      if (fits) return true;
    }
    return tryFrom(at + 1, placed);
  };
  return tryFrom(0, 0);
}

function assertHolds({ kinds, free, needed, accepts }: PlacementProblem, placement: Placement): void {
  const placed = placement.flat().reduce((sum, count) => sum + count, 0);
  expect(placed).toBeGreaterThanOrEqual(needed);
  kinds.forEach(({ count, mayUse }, kind) => {
    const ofKind = placement[kind]!;
    expect(ofKind.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(count);
    ofKind.forEach((each, node) => expect(each === 0 || mayUse[node]).toBe(true));
  });
  free.forEach((amounts, node) => {
    amounts.forEach((amount, resource) => {
      const used = kinds.reduce((sum, kind, at) => sum + kind.amounts[resource]! * placement[at]![node]!, 0);
      expect(used === 0 || used <= amount).toBe(true);
    });
  });
  expect(accepts?.(placement) ?? true).toBe(true);
}

describe('placeExactly', () => {
  it('finds the only arrangement, which the largest-first order on the emptiest node misses', () => {
    const kinds = [kindOf(2, [3], 2), kindOf(3, [2], 2)];
    const found = placeExactly({ kinds, free: [[6], [6]], needed: 5, maxSteps });
    expect(found).toEqual({
      kind: 'placed',
      placement: [
        [2, 0],
        [0, 3],
      ],
    });
  });

  it('proves that there is none, although the sums of all resources suffice', () => {
    const kinds = [kindOf(3, [2], 3)];
    expect(placeExactly({ kinds, free: [[3], [3], [1]], needed: 3, maxSteps })).toEqual({ kind: 'none' });
  });

  it('leaves out the members that need not be placed', () => {
    const kinds = [kindOf(1, [9], 1), kindOf(2, [1], 1)];
    expect(placeExactly({ kinds, free: [[2]], needed: 2, maxSteps })).toEqual({
      kind: 'placed',
      placement: [[0], [2]],
    });
    expect(placeExactly({ kinds, free: [[2]], needed: 3, maxSteps })).toEqual({ kind: 'none' });
  });

  it('uses no node that the kind may not use', () => {
    const kinds = [{ count: 1, amounts: [1], mayUse: [false, true] }];
    expect(placeExactly({ kinds, free: [[4], [1]], needed: 1, maxSteps })).toEqual({
      kind: 'placed',
      placement: [[0, 1]],
    });
  });

  it('does not mind an over-committed resource that no member needs', () => {
    const kinds = [kindOf(1, [1, 0], 1)];
    expect(placeExactly({ kinds, free: [[1, -5]], needed: 1, maxSteps }).kind).toBe('placed');
  });

  it('says unknown when the steps are used up, never none', () => {
    const kinds = Array.from({ length: 6 }, (_, i) => kindOf(2, [7 + i, 20 - i, 5 + (i % 3)], 8));
    const free = Array.from({ length: 8 }, (_, i) => [20 + i, 36 - i, 14]);
    expect(placeExactly({ kinds, free, needed: 12, maxSteps: 3 })).toEqual({ kind: 'unknown' });
  });

  it('tries all placements until a condition on the whole accepts one', () => {
    const isSpread = (placement: Placement): boolean => placement[0]!.every((count) => count > 0);
    const kinds = [kindOf(2, [1], 2)];
    const found = placeExactly({
      kinds,
      free: [[2], [2]],
      needed: 2,
      accepts: isSpread,
      classes: ['a', 'b'],
      maxSteps,
    });
    expect(found).toEqual({ kind: 'placed', placement: [[1, 1]] });
  });

  it('agrees with trying everything, and decides 12 members on 8 nodes within its steps', () => {
    const counts = { placed: 0, none: 0, unknown: 0 };
    for (let seed = 1; seed <= 600; seed++) {
      const random = seededRandom(seed);
      const int = (low: number, high: number): number => low + Math.floor(random() * (high - low + 1));
      const isSmall = seed <= 400;
      const nodes = isSmall ? int(1, 3) : 8;
      const resources = int(1, 3);
      const kinds = Array.from({ length: int(1, isSmall ? 3 : 4) }, (): MemberKind => {
        return {
          count: isSmall ? int(1, 2) : 3,
          amounts: Array.from({ length: resources }, () => int(0, 4)),
          mayUse: Array.from({ length: nodes }, () => random() < 0.85),
        };
      });
      const total = kinds.reduce((sum, { count }) => sum + count, 0);
      const free = Array.from({ length: nodes }, () =>
        Array.from({ length: resources }, () => int(-1, isSmall ? 6 : 7)),
      );
      const needed = random() < 0.7 ? total : int(1, total);
      const zones = Array.from({ length: nodes }, () => (random() < 0.5 ? 'a' : 'b'));
      const fillsBoth = (placement: Placement): boolean => {
        const used = new Set(
          placement.flatMap((ofKind) => ofKind.flatMap((count, node) => (count > 0 ? [zones[node]] : []))),
        );
        return used.size === new Set(zones).size;
      };
      const conditions = random() < 0.3 ? { accepts: fillsBoth, classes: zones } : {};
      const problem: PlacementProblem = { kinds, free, needed, ...conditions, maxSteps };
      const result = placeExactly(problem);
      counts[result.kind]++;
      if (result.kind === 'placed') assertHolds(problem, result.placement);
      if (isSmall) expect([seed, result.kind]).toEqual([seed, fitsByForce(problem) ? 'placed' : 'none']);
    }
    expect(counts.unknown).toBe(0);
    expect(Math.min(counts.placed, counts.none)).toBeGreaterThan(100);
  });
});
