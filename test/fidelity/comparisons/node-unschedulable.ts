import { questionsOf } from '../arbitraries.ts';
import type { PluginComparison } from '../plugin-comparison.ts';
import { taintedNode, toleratingPod } from './taints.ts';

export const nodeUnschedulable: PluginComparison = {
  plugin: 'NodeUnschedulable',
  questions: questionsOf({ plugin: 'NodeUnschedulable', node: taintedNode, pod: toleratingPod }),
};
