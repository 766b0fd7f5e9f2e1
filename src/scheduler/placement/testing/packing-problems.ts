import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { placeExactly } from '../../../../test/simulation/checks/exact-placement.ts';
import type { PlacementResult } from '../../../../test/simulation/checks/exact-placement.ts';
import type { Packing, PackingProblem } from '../packing/packing-problem.ts';

/** Returns a problem from plain lists. `limits`: class -> node -> maximum number of members; absent: no limit. `apart`: pairs of classes. */
export function packingProblem({
  counts,
  requests,
  free,
  needed = counts.reduce((sum, count) => sum + count, 0),
  limits,
  apart = [],
}: {
  readonly counts: readonly number[];
  /** class -> resource -> amount */
  readonly requests: readonly (readonly number[])[];
  /** node -> resource -> amount */
  readonly free: readonly (readonly number[])[];
  readonly needed?: number;
  readonly limits?: readonly (readonly number[])[];
  readonly apart?: readonly (readonly [number, number])[];
}): PackingProblem {
  return {
    classes: counts.map((count, index) => ({
      count,
      requests: requests[index]!,
      limits: Uint16Array.from(free, (_, node) => limits?.[index]![node] ?? 99),
    })),
    free: free.map((amounts) => Float64Array.from(amounts)),
    needed,
    apart: counts.map((_, index) => new Set(apart.flatMap(([a, b]) => (a === index ? [b] : b === index ? [a] : [])))),
  };
}

/** Small problems with overcommitted nodes, zero requests, spare members and classes that cannot share a node. */
export const packingProblems: Arbitrary<PackingProblem> = fc
  .tuple(
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 0, max: 4 }),
    fc.integer({ min: 1, max: 3 }),
    fc.integer({ min: 0, max: 3 }),
  )
  .chain(([classes, nodes, resources, conflicts]) => {
    const listOf = <T>(length: number, of: Arbitrary<T>): Arbitrary<T[]> =>
      fc.array(of, { minLength: length, maxLength: length });
    const aClass = fc.integer({ min: 0, max: classes - 1 });
    return fc.record({
      counts: listOf(classes, fc.integer({ min: 1, max: 4 })),
      requests: listOf(classes, listOf(resources, fc.integer({ min: 0, max: 5 }))),
      free: listOf(nodes, listOf(resources, fc.integer({ min: -2, max: 12 }))),
      limits: listOf(classes, listOf(nodes, fc.constantFrom(0, 1, 2, 99, 99, 99, 99, 99))),
      apart: listOf(conflicts, fc.tuple(aClass, aClass)),
      spare: fc.integer({ min: 0, max: 4 }),
    });
  })
  .map(({ spare, ...rest }) => {
    const members = rest.counts.reduce((sum, count) => sum + count, 0);
    return packingProblem({ ...rest, needed: Math.max(0, members - spare) });
  });

/** Returns what is wrong with a packing, however many members it places; undefined: nothing. */
export function packingProblemOf(
  { classes, free, apart }: PackingProblem,
  packing: Packing,
  placed: number,
): string | undefined {
  let sum = 0;
  for (const [index, { count, limits }] of classes.entries()) {
    const counts = [...packing[index]!];
    const members = counts.reduce((total, each) => total + each, 0);
    sum += members;
    if (counts.length !== free.length) return `class ${index} has ${counts.length} nodes`;
    if (counts.some((each) => each < 0)) return `class ${index} has a negative number of members on a node`;
    if (members > count) return `class ${index} has ${members} of ${count} members`;
    if (counts.some((each, node) => each > limits[node]!)) return `class ${index} exceeds a limit`;
    for (const [node, each] of counts.entries()) {
      if (each === 0) continue;
      if (apart[index]!.has(index) && each > 1) return `class ${index} shares node ${node} with itself`;
      for (const other of apart[index]!) {
        if (other !== index && packing[other]![node]! > 0) return `classes ${index} and ${other} share node ${node}`;
      }
    }
  }
  for (const [node, amounts] of free.entries()) {
    for (const [resource, amount] of amounts.entries()) {
      const requests = classes.map((each, index) => each.requests[resource]! * packing[index]![node]!);
      const requested = requests.reduce((total, each) => total + each, 0);
      if (requested > 0 && requested > amount) return `node ${node} has ${requested} of ${amount} of ${resource}`;
    }
  }
  return sum === placed ? undefined : `${placed} reported, ${sum} placed`;
}

/** Asks the exact solver of the tests. */
export function exactPacking({ classes, free, needed, apart }: PackingProblem, maxSteps = 200_000): PlacementResult {
  return placeExactly({
    // Each limit is a resource of its own.
    kinds: classes.map(({ count, requests, limits }, index) => ({
      count,
      amounts: [...requests, ...classes.map((_, other) => Number(other === index))],
      mayUse: [...limits].map((limit) => limit > 0),
    })),
    free: free.map((amounts, node) => [...amounts, ...classes.map(({ limits }) => limits[node]!)]),
    needed,
    ...(apart.some(({ size }) => size > 0) && {
      accepts: (placement) =>
        placement.every((counts, index) =>
          counts.every(
            (count, node) =>
              count === 0 ||
              [...apart[index]!].every((other) => (other === index ? count < 2 : placement[other]![node] === 0)),
          ),
        ),
    }),
    maxSteps,
  });
}
