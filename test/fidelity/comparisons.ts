import { balancedAllocation } from './comparisons/balanced-allocation.ts';
import { imageLocality } from './comparisons/image-locality.ts';
import { interPodAffinity } from './comparisons/inter-pod-affinity.ts';
import { nodeAffinity } from './comparisons/node-affinity.ts';
import { nodeDeclaredFeatures } from './comparisons/node-declared-features.ts';
import { nodeName } from './comparisons/node-name.ts';
import { nodePorts } from './comparisons/node-ports.ts';
import { nodeResourcesFit } from './comparisons/node-resources-fit.ts';
import { nodeUnschedulable } from './comparisons/node-unschedulable.ts';
import { nodeVolumeLimits } from './comparisons/node-volume-limits.ts';
import { podTopologySpread } from './comparisons/pod-topology-spread.ts';
import { prioritySort } from './comparisons/priority-sort.ts';
import { schedulingGates } from './comparisons/scheduling-gates.ts';
import { taintToleration } from './comparisons/taint-toleration.ts';
import { volumeBinding } from './comparisons/volume-binding.ts';
import { volumeRestrictions } from './comparisons/volume-restrictions.ts';
import { volumeZone } from './comparisons/volume-zone.ts';
import type { PluginComparison } from './plugin-comparison.ts';

/** Every plugin that is compared with kube-scheduler's. */
export const comparisons: readonly PluginComparison[] = [
  schedulingGates,
  prioritySort,
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  volumeRestrictions,
  nodeVolumeLimits,
  volumeBinding,
  volumeZone,
  podTopologySpread,
  interPodAffinity,
  balancedAllocation,
  imageLocality,
  nodeDeclaredFeatures,
];
