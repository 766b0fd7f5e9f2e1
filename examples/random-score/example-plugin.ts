import type { OwnPlugin } from 'tutti-scheduler';

const scoresKey = 'ExamplePlugin/scores';

/** Gives nodes random scores, and logs them once the pod is bound. */
export const examplePlugin: OwnPlugin = {
  name: 'ExamplePlugin',
  factory: (_args, { logger, random }) => ({
    name: 'ExamplePlugin',
    preScore: (state) => {
      state.write(scoresKey, new Map<string, number>());
      return undefined;
    },
    score: (state, _pod, { name }) => {
      const score = Math.floor(101 * random());
      state.read<Map<string, number>>(scoresKey)?.set(name, score);
      return score;
    },
    postBind: (state, pod, nodeName) => {
      const scores = [...(state.read<Map<string, number>>(scoresKey) ?? [])].map(([node, score]) => `${node} ${score}`);
      logger.info('decision', { pod: pod.name, node: nodeName, scores: scores.join(', ') });
    },
  }),
};
