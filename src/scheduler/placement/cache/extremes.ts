/** Least and greatest raw score of one plugin over the feasible nodes, and how many nodes have each. */
export interface Extremes {
  least: number;
  leastCount: number;
  greatest: number;
  greatestCount: number;
}

/** Returns the extremes of a column by node index, for the first `size` indexes of a list. */
export function extremesAt(indexes: Int32Array, size: number, scores: Float64Array): Extremes {
  let least = Infinity;
  let leastCount = 0;
  let greatest = -Infinity;
  let greatestCount = 0;
  for (let i = 0; i < size; i++) {
    const score = scores[indexes[i]!]!;
    if (score < least) {
      least = score;
      leastCount = 0;
    }
    if (score > greatest) {
      greatest = score;
      greatestCount = 0;
    }
    if (score === least) leastCount++;
    if (score === greatest) greatestCount++;
  }
  return { least, leastCount, greatest, greatestCount };
}

/**
 * Replaces one node's raw score (`now` undefined: the node is no longer feasible). Returns false if the extremes are then
 * unknown.
 */
export function replaceInExtremes(extremes: Extremes, before: number, now: number | undefined): boolean {
  if (before === now) return true;
  if (before === extremes.least && --extremes.leastCount === 0) return false;
  if (before === extremes.greatest && --extremes.greatestCount === 0) return false;
  if (now === undefined) return true;
  if (now < extremes.least || now > extremes.greatest) return false;
  if (now === extremes.least) extremes.leastCount++;
  if (now === extremes.greatest) extremes.greatestCount++;
  return true;
}
