import * as fc from 'fast-check';
import { fields, maybe, questionsOf } from '../arbitraries.ts';
import type { PluginComparison } from '../plugin-comparison.ts';
import { allocatable, countedResources } from '../quantities.ts';
import { askingPod, runningPod } from './pod-requests.ts';

const plugin = 'NodeResourcesBalancedAllocation';

const resource = fields({
  name: fc.constantFrom('cpu', 'memory', 'ephemeral-storage', 'pods', ...countedResources),
  weight: maybe(fc.constantFrom(0, 1), 5),
});

export const balancedAllocation: PluginComparison = {
  plugin,
  questions: questionsOf({
    plugin,
    args: maybe(
      fields({ resources: maybe(fc.uniqueArray(resource, { maxLength: 5, selector: ({ name }) => name }), 9) }),
      6,
    ),
    node: allocatable.map((given) => ({ status: { allocatable: given } })),
    pod: askingPod,
    placed: runningPod,
    maxPlaced: 6,
  }),
};
