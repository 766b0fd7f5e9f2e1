/** What a kubelet writes as status.reason of a pod that it does not admit for lack of a resource: OutOfcpu, OutOfpods, OutOfexample.com/gpu, … */
const lackPrefix = 'OutOf';

/** The other reasons: of its predicates, the checks of the operating system, and its managers of devices, topology and security. */
const reasons: ReadonlySet<string> = new Set([
  'AppArmor',
  'InitContainerRestartPolicyForbidden',
  'InvalidNodeInfo',
  'NodeAffinity',
  'NodeName',
  'NodePorts',
  'NodeShutdown',
  'NodeUnschedulable',
  'PodFeatureUnsupported',
  'PodLevelResourcesNotSupported',
  'PodOSNotSupported',
  'PodOSSelectorNodeLabelDoesNotMatch',
  'SMTAlignmentError',
  'SupplementalGroupsPolicyNotSupported',
  'SysctlForbidden',
  'TaintToleration',
  'TopologyAffinityError',
  'UnexpectedAdmissionError',
  'UnexpectedPredicateFailureType',
  'UnknownReason',
  'node(s) had untolerated taint(s)',
]);

/**
 * Whether a pod failed because its node did not admit it, as its status.reason says: it has never run. `Evicted` is not among them, which a kubelet
 * also writes of pods that ran.
 */
export function isAdmissionRejection(reason: string | undefined): reason is string {
  return reason !== undefined && (reason.startsWith(lackPrefix) || reasons.has(reason));
}
