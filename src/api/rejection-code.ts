/**
 * Closed list of why a node or a pod is rejected. The codes are stable; texts are not.
 * - `Cordoned`, `UntoleratedTaint`, `NodeNameMismatch`, `NodeAffinityMismatch`, `MissingNodeFeature`: the node is not for this pod.
 * - `InsufficientResource`: too little of one resource is free. The number of pods is the resource `pods`.
 * - `PortConflict`, `VolumeUnavailable`: another pod uses the port, or a volume of the pod cannot be used there.
 * - `PodAffinityMismatch`, `PodAntiAffinityConflict`, `TopologySpreadViolated`: because of where other pods are.
 * - `TakenBySiblings`: the pod alone would fit, but not beside the members of its own group.
 * - `ReservedForOther`: the pod would fit, but not beside pods for which capacity is reserved.
 * - `BindFailed`, `NotAdmitted`: the API server or the kubelet has rejected the pod or a similar one there before.
 * - `NotPreselected`: PreFilter or an extender left the node out without a reason of its own. `RejectedByExtender`: with one.
 * - `GroupExceedsCluster`: the group asks for more than all nodes have.
 * - `PluginFailed`: a plugin failed.
 * - `Other`: the plugin gave only a text.
 */
export const rejectionCodes = [
  'Cordoned',
  'UntoleratedTaint',
  'NodeNameMismatch',
  'NodeAffinityMismatch',
  'MissingNodeFeature',
  'InsufficientResource',
  'PortConflict',
  'VolumeUnavailable',
  'PodAffinityMismatch',
  'PodAntiAffinityConflict',
  'TopologySpreadViolated',
  'TakenBySiblings',
  'ReservedForOther',
  'BindFailed',
  'NotAdmitted',
  'NotPreselected',
  'RejectedByExtender',
  'GroupExceedsCluster',
  'PluginFailed',
  'Other',
] as const;

export type RejectionCode = (typeof rejectionCodes)[number];

/** One reason of a rejection: a text for people, and what programs read. */
export interface RejectionReason {
  /** Short phrase without a period. */
  readonly text: string;
  readonly code: RejectionCode;
  /** The resource of `InsufficientResource`. */
  readonly resource?: string;
}
