import type { Cluster } from '../../../cluster/cluster.ts';
import type { Batch } from './batch.ts';

/** A look at a node takes longer to come by the node than to judge it, so this many kinds are judged by one. */
export const countedTogether = 8;

/** On how many nodes each of the batches fits before anybody is placed, in their order. `indexes`: of the only nodes to look at. */
export function countNodes(
  { nodes, generation }: Cluster,
  indexes: readonly number[] | undefined,
  batches: readonly Batch[],
): readonly number[] {
  const sizes = batches.map(({ ranking }) => (ranking === undefined ? 0 : ranking.countAtOnce()));
  const oneByOne = [...sizes.keys()].filter((i) => sizes[i] === undefined);
  const counting = oneByOne.map((i) => batches[i]!.ranking!.counting(generation));
  const counts = counting.map(() => 0);
  const nodeCount = counting.length === 0 ? 0 : (indexes?.length ?? nodes.length);
  for (let place = 0; place < nodeCount; place++) {
    const node = nodes[indexes === undefined ? place : indexes[place]!]!;
    for (let i = 0; i < counting.length; i++) if (counting[i]!.counts(node)) counts[i]!++;
  }
  return sizes.map((size, i) => size ?? counts[oneByOne.indexOf(i)]!);
}

/** The larger request first; among equals by what they are, so that the order is the same for all equal gangs. */
export function compareSizes(a: Batch, b: Batch): number {
  const [one, other] = [a.sample.template, b.sample.template];
  const cpu = other.nonZeroMilliCpu - one.nonZeroMilliCpu;
  const memory = other.nonZeroMemory - one.nonZeroMemory;
  const [text, otherText] = [a.group.kind.text, b.group.kind.text];
  return cpu || memory || (text < otherText ? -1 : text === otherText ? 0 : 1);
}
