import type { Batch } from './batch.ts';

/** Orders the larger request first, then by class text, so that the order is the same for all equal gangs. */
export function compareSizes(a: Batch, b: Batch): number {
  const [one, other] = [a.sample.template, b.sample.template];
  const cpu = other.nonZeroMilliCpu - one.nonZeroMilliCpu;
  const memory = other.nonZeroMemory - one.nonZeroMemory;
  const [{ text, rank = 0 }, { text: otherText, rank: otherRank = 0 }] = [a.context.podClass, b.context.podClass];
  return cpu || memory || rank - otherRank || (text < otherText ? -1 : text === otherText ? 0 : 1);
}
