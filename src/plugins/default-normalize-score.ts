import { maxNodeScore } from './node-score.ts';

/**
 * kube-scheduler's DefaultNormalizeScore, in place and in whole numbers. Scales the scores so that the highest becomes 100; `reverse`
 * inverts the result, so that the highest becomes 0. If all raw scores are 0, they stay 0, or become 100 if reversed. Raw scores must
 * not be negative.
 */
export function defaultNormalizeScore(scores: Float64Array, reverse: boolean): void {
  let highest = 0;
  for (let i = 0; i < scores.length; i++) if (scores[i]! > highest) highest = scores[i]!;
  if (highest === 0) {
    if (reverse) scores.fill(maxNodeScore);
    return;
  }
  for (let i = 0; i < scores.length; i++) {
    const score = Math.floor((maxNodeScore * scores[i]!) / highest);
    scores[i] = reverse ? maxNodeScore - score : score;
  }
}
