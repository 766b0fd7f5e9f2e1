import { expect, it } from 'vitest';
import type { Snapshot, SnapshotPod } from '../../../api/explain/snapshot.ts';
import { defaultConfiguration, defaultProfile } from '../../../config/scheduler-configuration.ts';
import { configurationObject } from '../../../config/format-configuration.ts';
import { renameSnapshot } from './rename-snapshot.ts';

const term = {
  matchExpressions: [{ key: 'canary.io/term', operator: 'In', values: ['canary-term'] }],
  matchFields: [{ key: 'metadata.name', operator: 'In', values: ['canary-node'] }],
};
const selector = {
  matchLabels: { 'canary.io/selected': 'canary-selected' },
  matchExpressions: [{ key: 'canary.io/expressed', operator: 'NotIn', values: ['canary-expressed'] }],
};
const podTerm = {
  labelSelector: selector,
  namespaces: ['canary-ns'],
  namespaceSelector: selector,
  topologyKey: 'canary.io/topology',
};
const podTerms = {
  requiredDuringSchedulingIgnoredDuringExecution: [podTerm],
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: podTerm }],
};

const pod: SnapshotPod = {
  uid: 'canary-uid',
  namespace: 'canary-ns',
  name: 'canary-pod',
  resourceVersion: 'canary-version',
  creationTimestamp: 1,
  labels: { 'canary.io/label': 'canary-label', 'kubernetes.io/hostname': 'canary-host' },
  podGroupKey: 'canary-ns/canary-group',
  otherGroupKey: 'scheduling.k8s.io/canary-ns/canary-native',
  membershipDisagreement: { label: 'canary-group', annotation: 'canary-other-group' },
  schedulerName: 'canary-scheduler',
  priority: 5,
  nodeName: 'canary-node',
  nominatedNodeName: 'canary-node-2',
  phase: 'Pending',
  deleting: false,
  deletionTimestamp: 0,
  schedulingGates: ['canary.io/gate'],
  podScheduled: { status: 'canary-status', reason: 'canary-reason', message: 'canary message', since: 1 },
  predictedStart: { at: 1, confidence: 'Declared' },
  plannedGroupUid: 'canary-group-uid',
  plannedQuorum: 1,
  startedAt: 0,
  deletionCost: 0,
  runtimeSeconds: 0,
  invalidRuntime: 'canary runtime',
  groupKeyOfOther: 'canary.io/other-scheduler',
  deadlineSeconds: 0,
  controller: { kind: 'CanaryJob', name: 'canary-job', uid: 'canary-job-uid' },
  failedBecause: 'OutOfcanary.com/gpu',
  disruptedBy: 'canary-disruption',
  preemptionMark: { schedulerName: 'canary-scheduler', since: 1 },
  volumes: [
    { type: 'claim', claimName: 'canary-claim', isEphemeral: false },
    {
      type: 'inline',
      name: 'canary-volume',
      disk: { system: 'rbd', monitors: ['canary-monitor'], pool: 'canary-pool', image: 'canary-image', readOnly: true },
      inTree: { plugin: 'canary.io/plugin', migrated: { driver: 'canary.driver', handle: 'canary-handle' } },
      csiDriver: 'canary.driver',
    },
    {
      type: 'inline',
      name: 'canary-disk',
      disk: { system: 'aws', id: 'canary-disk-id', readOnly: false },
      inTree: { plugin: 'kubernetes.io/aws-ebs', migrated: { problem: 'canary problem' } },
      csiDriver: undefined,
    },
  ],
  template: 0,
  assumedOn: 'canary-node',
};

/** A snapshot in which every text that can be a user's has the word canary. */
const snapshot: Snapshot = {
  apiVersion: 'explain.tutti.dev/v1alpha1',
  kind: 'Snapshot',
  format: 1,
  tuttiVersion: '1.2.3',
  source: 'scheduler',
  takenAt: '2026-01-01T00:00:00.000Z',
  anonymized: false,
  unknowns: [],
  seed: 7,
  configuration: configurationObject(
    defaultConfiguration({
      profiles: [
        {
          ...defaultProfile('canary-scheduler'),
          plugins: defaultProfile('').plugins.map((plugin) => {
            const args: Readonly<Record<string, object>> = {
              NodeAffinity: {
                addedAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } },
              },
              PodTopologySpread: {
                defaultingType: 'List',
                defaultConstraints: [
                  { maxSkew: 1, topologyKey: 'canary.io/rack', whenUnsatisfiable: 'ScheduleAnyway' },
                ],
              },
              NodeResourcesFit: {
                ignoredResources: ['canary.com/ignored'],
                ignoredResourceGroups: ['canary.org'],
                scoringStrategy: { type: 'LeastAllocated', resources: [{ name: 'canary.com/gpu', weight: 1 }] },
              },
              NodeResourcesBalancedAllocation: { resources: [{ name: 'canary.com/gpu', weight: 1 }] },
            };
            return args[plugin.name] === undefined ? plugin : { ...plugin, args: args[plugin.name] };
          }),
          reservations: { poolLabel: 'canary.io/pool', reserveAfterMs: 1, drainAfterMs: 1, overrunPenaltyMs: 1 },
        },
      ],
    }),
  ),
  nodes: [
    {
      name: 'canary-node',
      uid: 'canary-node-uid',
      resourceVersion: 'canary-version',
      labels: { 'canary.io/node-label': 'canary-value' },
      taints: [{ key: 'canary.io/taint', value: 'canary-taint', effect: 'CanaryEffect' }],
      unschedulable: false,
      allocatable: { cpu: 1000, 'canary.com/gpu': 4, 'canary.org/nic': 1, 'canary-short': 1 },
      declaredFeatures: [],
      images: [{ name: 'canary.io/image:1', size: 3 }],
    },
  ],
  templates: [
    {
      requests: { cpu: 1, 'canary.com/gpu': 1 },
      nonZeroMilliCpu: 1,
      nonZeroMemory: 1,
      nodeSelector: { 'canary.io/node-label': 'canary-value' },
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] },
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: term }],
      },
      tolerations: [
        { key: 'canary.io/taint', operator: 'CanaryOperator', value: 'canary-taint', effect: 'CanaryEffect' },
      ],
      hostPorts: [{ protocol: 'CANARY', hostIP: 'canary-address', port: 80 }],
      podAffinity: { podAffinity: podTerms, podAntiAffinity: podTerms },
      topologySpread: [
        {
          maxSkew: 1,
          topologyKey: 'canary.io/rack',
          whenUnsatisfiable: 'CanaryPolicy',
          labelSelector: selector,
          nodeAffinityPolicy: 'CanaryPolicy',
          nodeTaintsPolicy: 'CanaryPolicy',
          matchLabelKeys: ['canary.io/hash'],
        },
      ],
      controller: { kind: 'ReplicaSet', name: 'canary-replicas' },
      images: ['canary.io/image:1'],
      resourceClaims: ['canary-resource-claim'],
      neededFeatures: [],
      terminationGracePeriodSeconds: 30,
    },
  ],
  pods: [pod],
  podGroups: [
    {
      source: 'scheduling.x-k8s.io',
      uid: 'canary-group-uid',
      key: 'canary-ns/canary-group',
      creationTimestamp: 1,
      minMember: 1,
      minResources: { 'canary.com/gpu': 1 },
      startedSince: 'canary-time',
      startsAnew: false,
      confirmsStart: false,
      releases: false,
      repairGraceMs: 1,
      unsupported: 'canary is not supported',
    },
  ],
  groupLives: [{ key: 'canary-ns/canary-group', started: true, hasEnded: false }],
  objects: [
    {
      kind: 'Namespace',
      namespace: '',
      name: 'canary-ns',
      labels: { 'canary.io/team': 'canary' },
      selector: undefined,
    },
    { kind: 'Service', namespace: 'canary-ns', name: 'canary-service', labels: {}, selector },
    { kind: 'ReplicaSet', namespace: 'canary-ns', name: 'canary-replicas', labels: {}, selector },
    {
      kind: 'PodDisruptionBudget',
      namespace: 'canary-ns',
      name: 'canary-budget',
      selector,
      disruptionsAllowed: 1,
      disruptedPods: ['canary-pod'],
    },
    {
      kind: 'Job',
      namespace: 'canary-ns',
      name: 'canary-job',
      uid: 'canary-job-uid',
      cronJob: 'canary-cron-job',
      deadlineSeconds: 1,
      startedAt: 1,
    },
    {
      kind: 'PersistentVolume',
      namespace: '',
      name: 'canary-volume',
      resourceVersion: 'canary-version',
      group: 'canary-class',
      statedClass: 'canary-class',
      labels: { 'canary.io/volume': 'canary' },
      capacity: 1,
      accessModes: ['ReadWriteOnce'],
      volumeMode: 'Filesystem',
      attributesClass: 'canary-attributes',
      nodeAffinity: [term],
      claim: { namespace: 'canary-ns', name: 'canary-claim', uid: 'canary-claim-uid' },
      isAvailable: true,
      deleting: false,
      csi: { driver: 'canary.driver', handle: 'canary-handle' },
      inTree: { plugin: 'canary.io/plugin', migrated: { driver: 'canary.driver', handle: 'canary-handle' } },
    },
    {
      kind: 'PersistentVolumeClaim',
      namespace: 'canary-ns',
      name: 'canary-claim',
      uid: 'canary-claim-uid',
      resourceVersion: 'canary-version',
      className: 'canary-class',
      statedClass: 'canary-class',
      volumeName: 'canary-volume',
      isBound: true,
      selectedNode: 'canary-node',
      requested: 1,
      accessModes: ['ReadWriteOnce'],
      selector,
      volumeMode: 'Filesystem',
      attributesClass: 'canary-attributes',
      isLost: false,
      deleting: false,
      ownerUid: 'canary-uid',
    },
    {
      kind: 'StorageClass',
      namespace: '',
      name: 'canary-class',
      provisioner: 'canary.driver',
      bindingMode: 'Immediate',
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'canary.io/zone', values: ['canary-zone'] }] }],
    },
    {
      kind: 'CSINode',
      namespace: '',
      name: 'canary-node',
      drivers: { 'canary.driver': 3 },
      migratedPlugins: 'kubernetes.io/aws-ebs,canary.io/plugin',
    },
    { kind: 'CSIDriver', namespace: '', name: 'canary.driver', publishesCapacity: true, isRequired: true },
    {
      kind: 'CSIStorageCapacity',
      namespace: 'canary-ns',
      name: 'canary-capacity',
      group: 'canary-class',
      nodeTopology: selector,
      capacity: 1,
      largestVolume: 1,
    },
    {
      kind: 'VolumeAttachment',
      namespace: '',
      name: 'canary-attachment',
      group: 'canary-node',
      attacher: 'canary.driver',
      volumeName: 'canary-volume',
    },
  ],
  reservationPlans: [{ priority: 1 }],
  reservations: [
    { kind: 'nomination', owner: 'canary-uid', nodeName: 'canary-node', plan: 0 },
    { kind: 'repair', owner: { ...pod, uid: 'canary-placeholder' }, nodeName: 'canary-node' },
  ],
  queue: [
    {
      key: 'gang/canary-ns/canary-group',
      subject: {
        kind: 'PodGroup',
        source: 'scheduling.x-k8s.io',
        namespace: 'canary-ns',
        name: 'canary-group',
        uid: 'canary-group-uid',
      },
      state: 'unschedulable',
      priority: 0,
      incomplete: false,
      sortedBy: 1,
      since: 1,
      attempts: 1,
      rejectedBy: ['CanaryPlugin'],
      gate: 'canary gate',
      verdict: { reason: 'Unschedulable', message: 'canary verdict', waitsFor: 'capacity' },
      plan: { fits: false, assignments: [{ member: 'canary-pod', node: 'canary-node' }], message: 'canary plan' },
    },
    {
      key: 'pod/canary-uid',
      subject: { kind: 'Pod', namespace: 'canary-ns', name: 'canary-pod', uid: 'canary-uid' },
      state: 'active',
      priority: 0,
      incomplete: false,
      sortedBy: 1,
      since: 1,
      attempts: 0,
      rejectedBy: [],
    },
  ],
};

it('WI24: no name of the user survives in an anonymized snapshot', () => {
  const text = JSON.stringify(renameSnapshot(snapshot).snapshot, undefined, 1);
  expect(text.split('\n').filter((line) => /canary/i.test(line))).toEqual([]);
});

it('WI24: the same name has the same replacement everywhere', () => {
  const { nodes, pods, queue, reservations, objects, templates } = renameSnapshot(snapshot).snapshot;
  const [renamed] = pods;
  expect([renamed!.nodeName, renamed!.assumedOn, reservations[0]!.nodeName]).toEqual(Array(3).fill(nodes[0]!.name));
  expect(reservations[0]!.owner).toBe(renamed!.uid);
  expect(queue[1]!.key).toBe(`pod/${renamed!.uid}`);
  expect(queue[0]!.key).toBe(`gang/${renamed!.podGroupKey}`);
  expect(objects.find(({ kind }) => kind === 'PersistentVolumeClaim')!.name).toBe(
    (renamed!.volumes[0] as { readonly claimName: string }).claimName,
  );
  expect(templates[0]!.nodeSelector).toEqual(nodes[0]!.labels);
  expect(Object.keys(templates[0]!.requests)).toEqual(Object.keys(nodes[0]!.allocatable).slice(0, 2));
});

it('keeps the order of names and of numbers that Gt and Lt compare', () => {
  const node = (name: string, generation: string): Snapshot['nodes'][number] => ({
    ...snapshot.nodes[0]!,
    name,
    labels: { generation },
  });
  const newer = { matchExpressions: [{ key: 'generation', operator: 'Gt', values: ['9'] }] };
  const { nodes, templates } = renameSnapshot({
    ...snapshot,
    nodes: [node('b', '10'), node('a', '-3'), node('c', '9')],
    templates: [
      {
        ...snapshot.templates[0]!,
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [newer] } },
      },
    ],
  }).snapshot;
  const [b, a, c] = nodes.map(({ name }) => name);
  expect([a!, b!, c!].toSorted()).toEqual([a, b, c]);
  const [ofB, ofA, ofC] = nodes.map(({ labels }) => Number(Object.values(labels)[0]));
  const terms = templates[0]!.nodeAffinity!.requiredDuringSchedulingIgnoredDuringExecution!.nodeSelectorTerms!;
  expect([ofA! < ofC!, ofC! < ofB!, Number(terms[0]!.matchExpressions![0]!.values![0])]).toEqual([true, true, ofC]);
});

it('renames a configuration that leaves out what has defaults', () => {
  const pluginConfig = ['NodeResourcesFit', 'PodTopologySpread', 'NodeAffinity'].map((name) => ({ name }));
  for (const configuration of [{}, { profiles: [{}] }, { profiles: [{ pluginConfig }] }])
    expect(() => renameSnapshot({ ...snapshot, configuration })).not.toThrow();
});
