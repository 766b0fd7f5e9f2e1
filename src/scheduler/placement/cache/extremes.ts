/** Lowest and highest raw score of one plugin over the feasible nodes, and how many nodes have each. */
export interface Extremes {
  lowest: number;
  lowestCount: number;
  highest: number;
  highestCount: number;
}

/** Returns the extremes of a column by node index, for the first `size` indexes of a list. */
export function extremesAt(indexes: Int32Array, size: number, scores: Float64Array): Extremes {
  let lowest = Infinity;
  let lowestCount = 0;
  let highest = -Infinity;
  let highestCount = 0;
  for (let i = 0; i < size; i++) {
    const score = scores[indexes[i]!]!;
    if (score < lowest) {
      lowest = score;
      lowestCount = 0;
    }
    if (score > highest) {
      highest = score;
      highestCount = 0;
    }
    if (score === lowest) lowestCount++;
    if (score === highest) highestCount++;
  }
  return { lowest, lowestCount, highest, highestCount };
}

/**
 * Replaces one node's raw score (`now` undefined: the node is no longer feasible). Returns false if the extremes are then
 * unknown.
 */
export function replaceInExtremes(extremes: Extremes, before: number, now: number | undefined): boolean {
  if (before === now) return true;
  if (before === extremes.lowest && --extremes.lowestCount === 0) return false;
  if (before === extremes.highest && --extremes.highestCount === 0) return false;
  if (now === undefined) return true;
  if (now < extremes.lowest || now > extremes.highest) return false;
  if (now === extremes.lowest) extremes.lowestCount++;
  if (now === extremes.highest) extremes.highestCount++;
  return true;
}
