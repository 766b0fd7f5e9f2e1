import type { ExtensionPoint } from '../framework/extension-point.ts';
import type { PluginFactory } from '../framework/plugin.ts';
import type { PluginRegistry } from '../framework/profile.ts';
import type { ObjectSchema } from './argument-schema.ts';
import { coschedulingArguments } from './coscheduling/coscheduling-args.ts';
import { Coscheduling } from './coscheduling/coscheduling.ts';
import { createDefaultBinder } from './defaultbinder/default-binder.ts';
import { dynamicResourcesArguments } from './dynamicresources/dynamic-resources-args.ts';
import { defaultPreemptionArguments } from './defaultpreemption/default-preemption-args.ts';
import { createDefaultPreemption } from './defaultpreemption/default-preemption.ts';
import { createDynamicResources } from './dynamicresources/dynamic-resources.ts';
import { createImageLocality } from './imagelocality/image-locality.ts';
import { createInterPodAffinity } from './interpodaffinity/inter-pod-affinity.ts';
import { interPodAffinityArguments } from './interpodaffinity/inter-pod-affinity-args.ts';
import { nodeAffinityArguments } from './nodeaffinity/added-affinity.ts';
import { createNodeAffinity } from './nodeaffinity/node-affinity.ts';
import { createNodeDeclaredFeatures } from './nodedeclaredfeatures/node-declared-features.ts';
import { createNodeName } from './nodename/node-name.ts';
import { createNodePorts } from './nodeports/node-ports.ts';
import { createBalancedAllocation } from './noderesources/balanced-allocation.ts';
import { balancedAllocationArguments } from './noderesources/balanced-arguments.ts';
import { fitArguments } from './noderesources/fit-arguments.ts';
import { createNodeResourcesFit } from './noderesources/node-resources-fit.ts';
import { createNodeUnschedulable } from './nodeunschedulable/node-unschedulable.ts';
import { createNodeVolumeLimits } from './nodevolumelimits/node-volume-limits.ts';
import { noArguments } from './plugin-arguments.ts';
import { createPodTopologySpread } from './podtopologyspread/pod-topology-spread.ts';
import { spreadArguments } from './podtopologyspread/spread-args.ts';
import { createPrioritySort } from './prioritysort/priority-sort.ts';
import { createSchedulingGates } from './schedulinggates/scheduling-gates.ts';
import { createTaintToleration } from './tainttoleration/taint-toleration.ts';
import { volumeBindingArguments } from './volumebinding/volume-binding-args.ts';
import { createVolumeBinding } from './volumebinding/volume-binding.ts';
import { createVolumeRestrictions } from './volumerestrictions/volume-restrictions.ts';
import { createVolumeZone } from './volumezone/volume-zone.ts';

export interface DefaultPlugin {
  readonly name: string;
  readonly factory: PluginFactory;
  /** Extension points that the plugin implements, so that a configuration can be validated without creating the plugin. */
  readonly points: readonly ExtensionPoint[];
  /** Validates the plugin's arguments and fills in defaults. Throws PluginArgumentsError. */
  readonly arguments: { readonly schema: ObjectSchema; read(args: unknown): unknown };
  /** Default score weight. Absent: 1, or the plugin does not score. */
  readonly weight?: number;
}

/** Plugins that a profile enables by default: kube-scheduler's, in its order and with its weights, and Coscheduling. */
export const defaultPlugins: readonly DefaultPlugin[] = [
  {
    name: 'SchedulingGates',
    factory: createSchedulingGates,
    points: ['preEnqueue'],
    arguments: noArguments('SchedulingGates'),
  },
  {
    name: 'PrioritySort',
    factory: createPrioritySort,
    points: ['queueSort'],
    arguments: noArguments('PrioritySort'),
  },
  {
    name: 'NodeName',
    factory: createNodeName,
    points: ['preFilter', 'filter'],
    arguments: noArguments('NodeName'),
  },
  {
    name: 'NodeUnschedulable',
    factory: createNodeUnschedulable,
    points: ['filter'],
    arguments: noArguments('NodeUnschedulable'),
  },
  {
    name: 'TaintToleration',
    factory: createTaintToleration,
    points: ['filter', 'score'],
    arguments: noArguments('TaintToleration'),
    weight: 3,
  },
  {
    name: 'NodeAffinity',
    factory: createNodeAffinity,
    points: ['preFilter', 'filter', 'preScore', 'score'],
    arguments: nodeAffinityArguments,
    weight: 2,
  },
  {
    name: 'NodePorts',
    factory: createNodePorts,
    points: ['preFilter', 'filter'],
    arguments: noArguments('NodePorts'),
  },
  {
    name: 'NodeResourcesFit',
    factory: createNodeResourcesFit,
    points: ['filter', 'score'],
    arguments: fitArguments,
    weight: 1,
  },
  {
    name: 'VolumeRestrictions',
    factory: createVolumeRestrictions,
    points: ['preFilter', 'filter'],
    arguments: noArguments('VolumeRestrictions'),
  },
  {
    name: 'NodeVolumeLimits',
    factory: createNodeVolumeLimits,
    points: ['preFilter', 'filter'],
    arguments: noArguments('NodeVolumeLimits'),
  },
  {
    name: 'VolumeBinding',
    factory: createVolumeBinding,
    points: ['preFilter', 'filter', 'preScore', 'score', 'reserve', 'preBind'],
    arguments: volumeBindingArguments,
    weight: 1,
  },
  {
    name: 'VolumeZone',
    factory: createVolumeZone,
    points: ['preFilter', 'filter'],
    arguments: noArguments('VolumeZone'),
  },
  {
    name: 'PodTopologySpread',
    factory: createPodTopologySpread,
    points: ['preFilter', 'filter', 'preScore', 'score'],
    arguments: spreadArguments,
    weight: 2,
  },
  {
    name: 'InterPodAffinity',
    factory: createInterPodAffinity,
    points: ['preFilter', 'filter', 'preScore', 'score'],
    arguments: interPodAffinityArguments,
    weight: 2,
  },
  {
    name: 'DynamicResources',
    factory: createDynamicResources,
    points: ['preFilter'],
    arguments: dynamicResourcesArguments,
  },
  {
    name: 'DefaultPreemption',
    factory: createDefaultPreemption,
    points: ['postFilter'],
    arguments: defaultPreemptionArguments,
  },
  {
    name: 'NodeResourcesBalancedAllocation',
    factory: createBalancedAllocation,
    points: ['preScore', 'score'],
    arguments: balancedAllocationArguments,
    weight: 1,
  },
  {
    name: 'ImageLocality',
    factory: createImageLocality,
    points: ['preScore', 'score'],
    arguments: noArguments('ImageLocality'),
    weight: 1,
  },
  {
    name: 'DefaultBinder',
    factory: createDefaultBinder,
    points: ['bind'],
    arguments: noArguments('DefaultBinder'),
  },
  {
    name: 'NodeDeclaredFeatures',
    factory: createNodeDeclaredFeatures,
    points: ['preFilter', 'filter'],
    arguments: noArguments('NodeDeclaredFeatures'),
  },
  {
    name: 'Coscheduling',
    factory: (args, handle) => new Coscheduling(args, handle),
    points: ['preEnqueue', 'preFilter', 'reserve', 'permit'],
    arguments: coschedulingArguments,
  },
];

export const pluginRegistry: PluginRegistry = new Map(defaultPlugins.map(({ name, factory }) => [name, factory]));
