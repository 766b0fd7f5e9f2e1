/** Prefix of status.reason if a kubelet rejects a pod for lack of a resource: OutOfcpu, OutOfpods, OutOfexample.com/gpu, … */
const outOfPrefix = 'OutOf';

/** Reasons of the kubelet's other admission checks: predicates, operating system, and the device, topology and security managers. */
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
 * Returns whether status.reason means that the node rejected the pod at admission, so that it never ran. `Evicted` does not count, because
 * a kubelet also sets it on pods that ran.
 */
export function isAdmissionRejection(reason: string | undefined): reason is string {
  return reason !== undefined && (reason.startsWith(outOfPrefix) || reasons.has(reason));
}
