/** Least and greatest raw score of one plugin over the feasible nodes, and how many nodes have each. */
export interface Extremes {
  least: number;
  leastCount: number;
  greatest: number;
  greatestCount: number;
}

export function extremesOf(scores: Float64Array): Extremes {
  const extremes: Extremes = { least: Infinity, leastCount: 0, greatest: -Infinity, greatestCount: 0 };
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i]!;
    if (score < extremes.least) {
      extremes.least = score;
      extremes.leastCount = 0;
    }
    if (score > extremes.greatest) {
      extremes.greatest = score;
      extremes.greatestCount = 0;
    }
    if (score === extremes.least) extremes.leastCount++;
    if (score === extremes.greatest) extremes.greatestCount++;
  }
  return extremes;
}

/** Replaces one node's raw score (undefined: the node is out). False when the extremes are no longer known. */
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
