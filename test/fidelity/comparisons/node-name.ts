import * as fc from 'fast-check';
import { fields, nodeNames, questionsOf } from '../arbitraries.ts';
import type { PluginComparison } from '../plugin-comparison.ts';

export const nodeName: PluginComparison = {
  plugin: 'NodeName',
  questions: questionsOf({
    plugin: 'NodeName',
    pod: fields({ nodeName: fc.constantFrom(...nodeNames, '', 'unseen', undefined) }).map((spec) => ({ spec })),
  }),
};
