import * as fc from 'fast-check';
import { fields, maybe, podObject } from '../arbitraries.ts';
import type { PluginComparison } from '../plugin-comparison.ts';

const queued = fc.record({
  createdAt: fc.integer({ min: 0, max: 3 }),
  spec: fields({ priority: maybe(fc.constantFrom(-2_147_483_648, -1, 0, 1, 1000, 2_000_000_000), 8) }),
});

export const prioritySort: PluginComparison = {
  plugin: 'PrioritySort',
  questions: fc.tuple(queued, queued).map(([pod, rival]) => ({
    plugin: 'PrioritySort',
    nodes: [],
    pods: [],
    pod: podObject('waiting', pod),
    rival: podObject('rival', rival),
  })),
};
