import type { PluginFactory } from '../framework/plugin.ts';
import type { PluginRegistry } from '../framework/profile.ts';
import { Coscheduling } from './coscheduling/coscheduling.ts';
import { createDefaultBinder } from './defaultbinder/default-binder.ts';
import { createNodeAffinity } from './nodeaffinity/node-affinity.ts';
import { createNodeName } from './nodename/node-name.ts';
import { createNodePorts } from './nodeports/node-ports.ts';
import { createNodeResourcesFit } from './noderesources/node-resources-fit.ts';
import { createNodeUnschedulable } from './nodeunschedulable/node-unschedulable.ts';
import { createPrioritySort } from './prioritysort/priority-sort.ts';
import { createSchedulingGates } from './schedulinggates/scheduling-gates.ts';
import { createTaintToleration } from './tainttoleration/taint-toleration.ts';

export interface DefaultPlugin {
  readonly name: string;
  readonly factory: PluginFactory;
  /** Multiplies its scores; absent: 1, or it does not score. */
  readonly weight?: number;
}

/** The plugins that a profile enables unless told otherwise: kube-scheduler's, in its order and with its weights. */
export const defaultPlugins: readonly DefaultPlugin[] = [
  { name: 'SchedulingGates', factory: createSchedulingGates },
  { name: 'PrioritySort', factory: createPrioritySort },
  { name: 'NodeUnschedulable', factory: createNodeUnschedulable },
  { name: 'NodeName', factory: createNodeName },
  { name: 'TaintToleration', factory: createTaintToleration, weight: 3 },
  { name: 'NodeAffinity', factory: createNodeAffinity, weight: 2 },
  { name: 'NodePorts', factory: createNodePorts },
  { name: 'NodeResourcesFit', factory: createNodeResourcesFit, weight: 1 },
  { name: 'DefaultBinder', factory: createDefaultBinder },
  { name: 'Coscheduling', factory: (args, handle) => new Coscheduling(args, handle) },
];

/** Every plugin that comes with Tutti. */
export const pluginRegistry: PluginRegistry = new Map(defaultPlugins.map(({ name, factory }) => [name, factory]));
