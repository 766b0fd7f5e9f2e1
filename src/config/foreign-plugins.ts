import { foreignPoints } from './configuration-schema.ts';

/** plugin of kube-scheduler -> its extension points there */
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

/** plugin of scheduler-plugins -> its extension points there, if Tutti has a plugin with that name */
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

/** removed plugin of kube-scheduler -> what replaces it */
const removedPlugins: ReadonlyMap<string, string> = new Map([
  ['AzureDiskLimits', 'the CSI driver limits of NodeVolumeLimits replace it'],
  ['CinderLimits', 'the CSI driver limits of NodeVolumeLimits replace it'],
  ['EBSLimits', 'the CSI driver limits of NodeVolumeLimits replace it'],
  ['GCEPDLimits', 'the CSI driver limits of NodeVolumeLimits replace it'],
  ['NodeLabel', 'NodeAffinity with addedAffinity replaces it'],
  ['NodePreferAvoidPods', 'taints replace it'],
  ['NodeResourcesLeastAllocated', 'NodeResourcesFit with the scoringStrategy LeastAllocated replaces it'],
  ['NodeResourcesMostAllocated', 'NodeResourcesFit with the scoringStrategy MostAllocated replaces it'],
  ['RequestedToCapacityRatio', 'a scoringStrategy of NodeResourcesFit replaces it'],
  ['SelectorSpread', 'PodTopologySpread replaces it'],
  ['ServiceAffinity', 'InterPodAffinity replaces it'],
]);

/** Returns why a plugin of another project cannot be enabled, as a text that follows its name; undefined for unknown names. */
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

/** Returns whether the plugin has this extension point in another project, so that a configuration may enable it there. */
export function worksElsewhereAt(name: string, point: string): boolean {
  const points = [...(kubeSchedulerPlugins.get(name) ?? []), ...(schedulerPluginsPlugins.get(name) ?? [])];
  return points.includes(point) && !(foreignPoints as readonly string[]).includes(point);
}
