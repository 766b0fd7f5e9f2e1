import type { JsonObject, JsonValue as Json } from '../../src/plane/apiserver/json.ts';
import { thingDefinition } from '../../src/plane/apiserver/testing/manifests.ts';

/** A resource of the embedded plane, and a valid object of it. */
export interface FuzzResource {
  /** Path of its collection; NS stands for a namespace. */
  readonly path: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly make: (name: string) => JsonObject;
}

const containers: Json = [
  { name: 'main', image: 'busybox', resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2' } } },
];

const workload: JsonObject = {
  replicas: 2,
  selector: { matchLabels: { a: 'b' } },
  template: { metadata: { labels: { a: 'b' } }, spec: { containers } },
};

/** The last one is the CRD of the one before it. */
export const fuzzResources: readonly FuzzResource[] = [
  {
    path: '/api/v1/namespaces/NS/pods',
    apiVersion: 'v1',
    kind: 'Pod',
    make: () => ({
      spec: {
        containers,
        nodeName: 'n1',
        terminationGracePeriodSeconds: 30,
        tolerations: [{ key: 'a', operator: 'Exists' }],
      },
      status: {
        phase: 'Running',
        podIP: '10.0.0.1',
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' }],
        containerStatuses: [
          {
            name: 'main',
            image: 'a',
            imageID: '',
            ready: true,
            restartCount: 1,
            state: { running: {} },
            lastState: {},
          },
        ],
      },
    }),
  },
  {
    path: '/api/v1/nodes',
    apiVersion: 'v1',
    kind: 'Node',
    make: () => ({ spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] }, status: { capacity: { cpu: '4' } } }),
  },
  {
    path: '/api/v1/namespaces/NS/configmaps',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    make: () => ({ data: { a: '1', b: '2' } }),
  },
  {
    path: '/api/v1/namespaces/NS/services',
    apiVersion: 'v1',
    kind: 'Service',
    make: () => ({ spec: { selector: { a: 'b' }, ports: [{ port: 80, name: 'http' }] } }),
  },
  { path: '/api/v1/namespaces/NS/serviceaccounts', apiVersion: 'v1', kind: 'ServiceAccount', make: () => ({}) },
  { path: '/api/v1/namespaces', apiVersion: 'v1', kind: 'Namespace', make: () => ({}) },
  {
    path: '/api/v1/namespaces/NS/events',
    apiVersion: 'v1',
    kind: 'Event',
    make: (name) => ({
      involvedObject: { kind: 'Pod', name, namespace: 'default' },
      reason: 'Test',
      type: 'Normal',
      count: 1,
    }),
  },
  {
    path: '/apis/events.k8s.io/v1/namespaces/NS/events',
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    make: (name) => ({
      regarding: { kind: 'Pod', name },
      reason: 'Test',
      type: 'Normal',
      action: 'Do',
      reportingController: 'x/y',
      reportingInstance: 'z',
      eventTime: '2020-01-01T00:00:00.000000Z',
    }),
  },
  {
    path: '/apis/coordination.k8s.io/v1/namespaces/NS/leases',
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    make: () => ({ spec: { holderIdentity: 'a', leaseDurationSeconds: 15, renewTime: '2020-01-01T00:00:00.000000Z' } }),
  },
  {
    path: '/apis/scheduling.k8s.io/v1/priorityclasses',
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    make: () => ({ value: 5 }),
  },
  {
    path: '/apis/scheduling.k8s.io/v1beta1/namespaces/NS/podgroups',
    apiVersion: 'scheduling.k8s.io/v1beta1',
    kind: 'PodGroup',
    make: () => ({
      spec: {
        schedulingPolicy: { gang: { minCount: 2 } },
        schedulingConstraints: { topology: [{ key: 'rack' }] },
        resourceClaims: [{ name: 'a', resourceClaimName: 'b' }],
        workloadRef: { workloadName: 'a', templateName: 'b' },
      },
    }),
  },
  {
    path: '/apis/policy/v1/namespaces/NS/poddisruptionbudgets',
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    make: () => ({ spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } } }),
  },
  {
    path: '/apis/batch/v1/namespaces/NS/jobs',
    apiVersion: 'batch/v1',
    kind: 'Job',
    make: () => ({
      spec: {
        completionMode: 'Indexed',
        completions: 3,
        backoffLimitPerIndex: 1,
        podFailurePolicy: {
          rules: [
            { action: 'FailIndex', onExitCodes: { operator: 'In', values: [1, 2] } },
            { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
          ],
        },
        successPolicy: { rules: [{ succeededIndexes: '0,1-2', succeededCount: 1 }] },
        template: { spec: { containers, restartPolicy: 'Never' } },
      },
      status: { active: 1, completedIndexes: '0', uncountedTerminatedPods: { failed: ['a'] } },
    }),
  },
  {
    path: '/apis/apps/v1/namespaces/NS/deployments',
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    make: () => ({
      spec: {
        replicas: 2,
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers } },
      },
    }),
  },
  {
    path: '/apis/apps/v1/namespaces/NS/statefulsets',
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    make: () => ({ spec: { ...workload, serviceName: 'a', updateStrategy: { type: 'RollingUpdate' } } }),
  },
  {
    path: '/apis/apps/v1/namespaces/NS/replicasets',
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    make: () => ({ spec: workload, status: { replicas: 1, readyReplicas: 1 } }),
  },
  {
    path: '/api/v1/namespaces/NS/replicationcontrollers',
    apiVersion: 'v1',
    kind: 'ReplicationController',
    make: () => ({ spec: { ...workload, selector: { a: 'b' } } }),
  },
  {
    path: '/api/v1/namespaces/NS/persistentvolumeclaims',
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    make: () => ({
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'a',
        resources: { requests: { storage: '1Gi' } },
        selector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
      },
      status: { phase: 'Bound', capacity: { storage: '1Gi' } },
    }),
  },
  {
    path: '/api/v1/persistentvolumes',
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    make: () => ({
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        hostPath: { path: '/a' },
        claimRef: { namespace: 'default', name: 'a' },
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }] },
        },
      },
    }),
  },
  {
    path: '/apis/storage.k8s.io/v1/storageclasses',
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    make: () => ({
      provisioner: 'example.test/p',
      volumeBindingMode: 'WaitForFirstConsumer',
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'a', values: ['b'] }] }],
    }),
  },
  {
    path: '/apis/storage.k8s.io/v1/csinodes',
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    make: () => ({ spec: { drivers: [{ name: 'd', nodeID: 'n', topologyKeys: ['a'], allocatable: { count: 3 } }] } }),
  },
  {
    path: '/apis/storage.k8s.io/v1/csidrivers',
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    make: () => ({ spec: { attachRequired: true, storageCapacity: true, volumeLifecycleModes: ['Persistent'] } }),
  },
  {
    path: '/apis/storage.k8s.io/v1/namespaces/NS/csistoragecapacities',
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIStorageCapacity',
    make: () => ({ storageClassName: 'a', capacity: '1Gi', nodeTopology: { matchLabels: { a: 'b' } } }),
  },
  {
    path: '/apis/storage.k8s.io/v1/volumeattachments',
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    make: () => ({ spec: { attacher: 'a', nodeName: 'n1', source: { persistentVolumeName: 'a' } } }),
  },
  {
    path: '/apis/scheduling.x-k8s.io/v1alpha1/namespaces/NS/podgroups',
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    make: () => ({ spec: { minMember: 2, minResources: { cpu: '1' }, scheduleTimeoutSeconds: 10 } }),
  },
  {
    path: '/apis/example.test/v1/namespaces/NS/things',
    apiVersion: 'example.test/v1',
    kind: 'Thing',
    make: () => ({ spec: { text: 'aaa', count: 1, list: [1, 2], map: { a: 'b' }, any: { a: [1] } } }),
  },
  {
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    make: () => fuzzDefinition(),
  },
];

export const fuzzReviews: readonly (readonly [path: string, apiVersion: string, kind: string, spec: JsonObject])[] = [
  [
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    'authorization.k8s.io/v1',
    'SelfSubjectAccessReview',
    { resourceAttributes: { verb: 'get', resource: 'pods' } },
  ],
  [
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    'authorization.k8s.io/v1',
    'SubjectAccessReview',
    { user: 'a', resourceAttributes: { verb: 'get' } },
  ],
  [
    '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    'authorization.k8s.io/v1',
    'SelfSubjectRulesReview',
    { namespace: 'default' },
  ],
  ['/apis/authentication.k8s.io/v1/tokenreviews', 'authentication.k8s.io/v1', 'TokenReview', { token: 'a.b.c' }],
];

/** Returns a CRD that uses every schema feature. */
export function fuzzDefinition(): JsonObject {
  const spec: JsonObject = {
    type: 'object',
    properties: {
      text: { type: 'string', pattern: '^a+$', maxLength: 100_000 },
      count: { type: 'integer', format: 'int32', minimum: 0 },
      list: { type: 'array', items: { type: 'integer' }, 'x-kubernetes-list-type': 'set' },
      map: { type: 'object', additionalProperties: { type: 'string', format: 'duration' } },
      any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      quantity: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    },
  };
  return thingDefinition(
    { spec, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    {
      subresources: { status: {} },
      additionalPrinterColumns: [{ name: 'Text', type: 'string', jsonPath: '.spec.text' }],
    },
  );
}
