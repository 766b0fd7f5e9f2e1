import type { Plugin } from '../../../framework/plugin.ts';

/** Fewer pods are better; spreads the raw scores between the least and the greatest, so that they are not in whole numbers. */
export const fewPods: Plugin & { readonly weight: number } = {
  name: 'FewPods',
  weight: 3,
  sign: () => '',
  score: (_state, _pod, node) => -node.pods.size,
  normalizeScore: (_state, _pod, scores) => {
    const [least, greatest] = [Math.min(...scores), Math.max(...scores)];
    const range = greatest - least;
    for (let i = 0; i < scores.length; i++) scores[i] = range === 0 ? 100 : (100 * (scores[i]! - least)) / range;
  },
};
