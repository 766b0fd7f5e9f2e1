/**
 * The models of `scheduling.k8s.io/v1beta1` PodGroups, which the client library does not have, in its notation: model -> field -> type. A
 * conformance case compares them with the OpenAPI document of kube-apiserver.
 */
export const podGroupModels: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  V1beta1PodGroup: {
    apiVersion: 'string',
    kind: 'string',
    metadata: 'V1ObjectMeta',
    spec: 'V1beta1PodGroupSpec',
    status: 'V1beta1PodGroupStatus',
  },
  V1beta1PodGroupSpec: {
    disruptionMode: 'V1beta1DisruptionMode',
    parentCompositePodGroupName: 'string',
    preemptionPolicy: 'string',
    priority: 'int32',
    priorityClassName: 'string',
    resourceClaims: 'Array<V1beta1PodGroupResourceClaim>',
    schedulingConstraints: 'V1beta1PodGroupSchedulingConstraints',
    schedulingPolicy: 'V1beta1PodGroupSchedulingPolicy',
    workloadRef: 'V1beta1WorkloadReference',
  },
  V1beta1PodGroupStatus: {
    conditions: 'Array<V1Condition>',
    resourceClaimStatuses: 'Array<V1beta1PodGroupResourceClaimStatus>',
  },
  V1beta1PodGroupSchedulingPolicy: { basic: 'V1beta1Empty', gang: 'V1beta1GangSchedulingPolicy' },
  V1beta1GangSchedulingPolicy: { minCount: 'int32' },
  V1beta1DisruptionMode: { all: 'V1beta1Empty', single: 'V1beta1Empty' },
  V1beta1PodGroupSchedulingConstraints: { topology: 'Array<V1beta1TopologyConstraint>' },
  V1beta1TopologyConstraint: { key: 'string' },
  V1beta1PodGroupResourceClaim: {
    name: 'string',
    resourceClaimName: 'string',
    resourceClaimTemplateName: 'string',
  },
  V1beta1PodGroupResourceClaimStatus: { name: 'string', resourceClaimName: 'string' },
  V1beta1WorkloadReference: { templateName: 'string', workloadName: 'string' },
  /** The types of `basic`, `single` and `all`: only their presence means something. */
  V1beta1Empty: {},
};
