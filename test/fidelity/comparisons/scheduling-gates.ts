import * as fc from 'fast-check';
import { fields, maybe, questionsOf } from '../arbitraries.ts';
import type { PluginComparison } from '../plugin-comparison.ts';

const gate = fc.constantFrom('example.com/quota', 'example.com/storage', 'wait').map((name) => ({ name }));

export const schedulingGates: PluginComparison = {
  plugin: 'SchedulingGates',
  questions: questionsOf({
    plugin: 'SchedulingGates',
    pod: fields({ schedulingGates: maybe(fc.array(gate, { maxLength: 3 }), 8) }).map((spec) => ({ spec })),
  }),
};
