import { PluginArguments } from '../plugin-arguments.ts';

/** kube-scheduler's InterPodAffinityArgs. */
export const interPodAffinityArguments = new PluginArguments('InterPodAffinity', {
  type: 'object',
  additionalProperties: false,
  properties: {
    hardPodAffinityWeight: {
      type: 'integer',
      minimum: 0,
      maximum: 100,
      default: 1,
      description: 'What the required affinity of a pod on a node is worth to a pod that it would have beside it.',
    },
    ignorePreferredTermsOfExistingPods: {
      type: 'boolean',
      default: false,
      description: 'Pods without preferred terms of their own are not scored by those of others.',
    },
  },
});
