import { foreignPoints } from './configuration-schema.ts';

/** kube-scheduler's plugins, and the points at which they work there. */
const kubeSchedulerPlugins: ReadonlyMap<string, readonly string[]> = new Map([
  ['SchedulingGates', ['preEnqueue']],
  ['PrioritySort', ['queueSort']],
  ['NodeName', ['preFilter', 'filter']],
  ['NodeUnschedulable', ['filter']],
  ['TaintToleration', ['filter', 'preScore', 'score']],
  ['NodeAffinity', ['preFilter', 'filter', 'preScore', 'score']],
  ['NodePorts', ['preFilter', 'filter']],
  ['NodeResourcesFit', ['preFilter', 'filter', 'preScore', 'score', 'placementScore']],
  ['VolumeRestrictions', ['preFilter', 'filter']],
  ['NodeVolumeLimits', ['preFilter', 'filter']],
  ['VolumeBinding', ['preFilter', 'filter', 'preScore', 'score', 'reserve', 'preBind']],
  ['VolumeZone', ['preFilter', 'filter']],
  ['PodTopologySpread', ['preFilter', 'filter', 'preScore', 'score']],
  ['InterPodAffinity', ['preFilter', 'filter', 'preScore', 'score']],
  ['DynamicResources', ['preEnqueue', 'preFilter', 'filter', 'postFilter', 'score', 'reserve', 'preBind']],
  ['DefaultPreemption', ['preEnqueue', 'postFilter', 'podGroupPostFilter']],
  ['NodeResourcesBalancedAllocation', ['preScore', 'score']],
  ['ImageLocality', ['score']],
  ['DefaultBinder', ['bind']],
  ['NodeDeclaredFeatures', ['preFilter', 'filter']],
  ['DeferredPodScheduling', ['preFilter', 'filter', 'permit']],
  ['GangScheduling', ['preEnqueue', 'permit', 'placementFeasible']],
  ['TopologyPlacementGenerator', ['placementGenerate']],
  ['PodGroupPodsCount', ['placementScore']],
]);

/** Plugins of scheduler-plugins, and the points at which they work there, where Tutti has a plugin of that name. */
const schedulerPluginsPlugins: ReadonlyMap<string, readonly string[]> = new Map([
  ['Coscheduling', ['queueSort', 'preFilter', 'postFilter', 'reserve', 'permit', 'postBind']],
  ['CapacityScheduling', []],
  ['CrossNodePreemption', []],
  ['LoadVariationRiskBalancing', []],
  ['LowRiskOverCommitment', []],
  ['NetworkOverhead', []],
  ['NodeMetadata', []],
  ['NodeResourceTopologyMatch', []],
  ['NodeResourcesAllocatable', []],
  ['Peaks', []],
  ['PodState', []],
  ['PreemptionToleration', []],
  ['QOSSort', []],
  ['SySched', []],
  ['TargetLoadPacking', []],
  ['TopologicalSort', []],
]);

/** Plugins that kube-scheduler had once -> what to do instead. */
const removedPlugins: ReadonlyMap<string, string> = new Map([
  ['AzureDiskLimits', 'the limits of CSI drivers, which NodeVolumeLimits checks there, take its place'],
  ['CinderLimits', 'the limits of CSI drivers, which NodeVolumeLimits checks there, take its place'],
  ['EBSLimits', 'the limits of CSI drivers, which NodeVolumeLimits checks there, take its place'],
  ['GCEPDLimits', 'the limits of CSI drivers, which NodeVolumeLimits checks there, take its place'],
  ['NodeLabel', 'NodeAffinity with addedAffinity takes its place'],
  ['NodePreferAvoidPods', 'taints take its place'],
  ['NodeResourcesLeastAllocated', 'NodeResourcesFit with the scoringStrategy LeastAllocated takes its place'],
  ['NodeResourcesMostAllocated', 'NodeResourcesFit with the scoringStrategy MostAllocated takes its place'],
  ['RequestedToCapacityRatio', 'a scoringStrategy of NodeResourcesFit takes its place'],
  ['SelectorSpread', 'PodTopologySpread takes its place there'],
  ['ServiceAffinity', 'InterPodAffinity takes its place there'],
]);

/** Why a plugin that is known elsewhere cannot be enabled here, as it follows its name; undefined for names that nobody knows. */
export function whyForeign(name: string): string | undefined {
  const instead = removedPlugins.get(name);
  if (instead !== undefined) return `, which kube-scheduler has removed: ${instead}`;
  if (kubeSchedulerPlugins.has(name)) return ', a plugin of kube-scheduler that Tutti does not have yet: remove it';
  if (schedulerPluginsPlugins.has(name)) return ', a plugin of scheduler-plugins that Tutti does not have: remove it';
  return undefined;
}

export function isRemoved(name: string): boolean {
  return removedPlugins.has(name);
}

/** Whether the plugin of that name works at this point elsewhere, so that a configuration may name it there. */
export function worksElsewhereAt(name: string, point: string): boolean {
  const points = [...(kubeSchedulerPlugins.get(name) ?? []), ...(schedulerPluginsPlugins.get(name) ?? [])];
  return points.includes(point) && !(foreignPoints as readonly string[]).includes(point);
}
