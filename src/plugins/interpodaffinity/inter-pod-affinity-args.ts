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
      description: 'Score weight of a required affinity term of an existing pod that matches the incoming pod.',
    },
    ignorePreferredTermsOfExistingPods: {
      type: 'boolean',
      default: false,
      description: 'Ignore the preferred terms of existing pods when the incoming pod has none of its own.',
    },
  },
});
