import type { Cluster } from '../../../cluster/cluster.ts';
import type { Batch } from './batch.ts';

/** Loading a node takes longer than checking it, so one visit checks this many pod classes. */
export const classesPerVisit = 8;

/**
 * Counts, for each batch, the nodes that it fits on before any placement. `indexes`: the only nodes to check; undefined: all.
 */
export function countNodes(
  { nodes, generation }: Cluster,
  indexes: readonly number[] | undefined,
  batches: readonly Batch[],
): readonly number[] {
  const sizes = batches.map(({ ranking }) => (ranking === undefined ? 0 : ranking.countAtOnce()));
  const uncounted = [...sizes.keys()].filter((i) => sizes[i] === undefined);
  const checkers = uncounted.map((i) => batches[i]!.ranking!.counting(generation));
  const counts = checkers.map(() => 0);
  const nodeCount = checkers.length === 0 ? 0 : (indexes?.length ?? nodes.length);
  for (let position = 0; position < nodeCount; position++) {
    const node = nodes[indexes === undefined ? position : indexes[position]!]!;
    for (let i = 0; i < checkers.length; i++) if (checkers[i]!.counts(node)) counts[i]!++;
  }
  return sizes.map((size, i) => size ?? counts[uncounted.indexOf(i)]!);
}

/** Orders the larger request first, then by class text, so that the order is the same for all equal gangs. */
export function compareSizes(a: Batch, b: Batch): number {
  const [one, other] = [a.sample.template, b.sample.template];
  const cpu = other.nonZeroMilliCpu - one.nonZeroMilliCpu;
  const memory = other.nonZeroMemory - one.nonZeroMemory;
  const [text, otherText] = [a.context.podClass.text, b.context.podClass.text];
  return cpu || memory || (text < otherText ? -1 : text === otherText ? 0 : 1);
}
