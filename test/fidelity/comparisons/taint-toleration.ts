import { questionsOf } from '../arbitraries.ts';
import type { PluginComparison } from '../plugin-comparison.ts';
import { taintedNode, toleratingPod } from './taints.ts';

export const taintToleration: PluginComparison = {
  plugin: 'TaintToleration',
  questions: questionsOf({ plugin: 'TaintToleration', node: taintedNode, pod: toleratingPod }),
};
