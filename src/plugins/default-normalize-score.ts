import { maxNodeScore } from './node-score.ts';

/**
 * kube-scheduler's default normalisation, in place and in whole numbers: the greatest raw score becomes 100, the others
 * keep their share of it; `reverse` turns the result round, so that the greatest becomes 0. Where all raw scores are 0,
 * they stay 0, or become 100 when reversed. Raw scores must not be negative.
 */
export function defaultNormalizeScore(scores: Float64Array, reverse: boolean): void {
  let greatest = 0;
  for (let i = 0; i < scores.length; i++) if (scores[i]! > greatest) greatest = scores[i]!;
  if (greatest === 0) {
    if (reverse) scores.fill(maxNodeScore);
    return;
  }
  for (let i = 0; i < scores.length; i++) {
    const score = Math.floor((maxNodeScore * scores[i]!) / greatest);
    scores[i] = reverse ? maxNodeScore - score : score;
  }
}
