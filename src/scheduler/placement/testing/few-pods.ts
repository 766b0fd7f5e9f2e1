import type { Plugin } from '../../../framework/plugin.ts';

/**
 * Prefers nodes with fewer pods. Normalizes between the lowest and the highest raw score, so that scores are not whole numbers.
 */
export const fewPods: Plugin & { readonly weight: number } = {
  name: 'FewPods',
  weight: 3,
  sign: () => '',
  score: (_state, _pod, node) => -node.pods.size,
  normalizeScore: (_state, _pod, scores) => {
    const [lowest, highest] = [Math.min(...scores), Math.max(...scores)];
    const range = highest - lowest;
    for (let i = 0; i < scores.length; i++) scores[i] = range === 0 ? 100 : (100 * (scores[i]! - lowest)) / range;
  },
};
