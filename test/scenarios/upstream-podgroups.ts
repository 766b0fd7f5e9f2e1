import type { NativePod, UpstreamTest } from './upstream-podgroup-case.ts';
import {
  bound,
  createGroup,
  createPods,
  deletePods,
  held,
  isScheduled,
  isUnschedulable,
  notTried,
  removed,
  unschedulable,
} from './upstream-podgroup-case.ts';

const hostname = 'kubernetes.io/hostname';
const zone = 'topology.kubernetes.io/zone';
const topology = 'Tutti does not support schedulingConstraints yet; a verdict says so.';

/** The pods of one group, each with one CPU. */
function members(group: string, priority: NativePod['priority'], names: readonly string[]): Record<string, NativePod> {
  return Object.fromEntries(names.map((name) => [name, { group, cpu: 1, priority }]));
}

function plain(priority: NativePod['priority'], cpu: number, names: readonly string[]): Record<string, NativePod> {
  return Object.fromEntries(names.map((name) => [name, { cpu, priority }]));
}

/** podgroup_test.go. Its priorities 5, 10, 50 and 100 are low, mid, high and highest here. The PodGroups name no Workload. */
const scheduling: UpstreamTest = {
  test: 'TestPodGroupScheduling',
  nodes: { node: { cpu: 4, labels: { [zone]: 'zone1' } } },
  firstNodes: ['node'],
  groups: {
    pg1: { minCount: 3, priority: 'highest' },
    'pg1@basic': { priority: 'highest' },
    pg2: { minCount: 3, priority: 'highest' },
    'mid-pg': { minCount: 2, priority: 'high' },
    'mid-pg@zone': { minCount: 2, priority: 'high', topologyKey: zone },
    'pg-mutable': { minCount: 5, priority: 'highest' },
  },
  pods: {
    ...members('pg1', 'highest', ['p1', 'p2', 'p3', 'p4']),
    ...members('pg2', 'highest', ['other-p1', 'other-p2', 'other-p3']),
    ...members('mid-pg', 'high', ['mid-p1', 'mid-p2']),
    ...members('pg-mutable', 'highest', ['mut-p1', 'mut-p2', 'mut-p3', 'mut-p4', 'mut-p5']),
    ...plain('highest', 2, ['blocker']),
    ...plain('highest', 1, ['small-blocker']),
    ...plain('mid', 2, ['low-priority-blocker']),
    ...plain('mid', 1, ['low-p1', 'low-p2', 'low-p3', 'low-p4']),
    ...plain('low', 1, ['very-low-p1', 'very-low-p2']),
  },
  cases: [
    {
      name: 'gang schedules when pod group and resources are available',
      steps: [createGroup('pg1'), createPods('p1', 'p2', 'p3'), bound('p1', 'p2', 'p3'), isScheduled('pg1')],
    },
    {
      name: 'any available pod group members get scheduled',
      steps: [
        createGroup('pg1'),
        createPods('p1', 'p2', 'p3'),
        bound('p1', 'p2', 'p3'),
        createPods('p4'),
        bound('p1', 'p2', 'p3', 'p4'),
      ],
    },
    {
      name: 'gang waits for quorum to start, then schedules',
      steps: [
        createGroup('pg1'),
        createPods('p1', 'p2'),
        notTried('p1', 'p2'),
        createPods('p3'),
        bound('p1', 'p2', 'p3'),
      ],
    },
    {
      name: 'gang waits for pod group, then for resources, then schedules',
      steps: [
        createPods('blocker'),
        bound('blocker'),
        createPods('p1', 'p2', 'p3'),
        notTried('p1', 'p2', 'p3'),
        createGroup('pg1'),
        unschedulable('p1', 'p2', 'p3'),
        isUnschedulable('pg1'),
        deletePods('blocker'),
        bound('p1', 'p2', 'p3'),
        isScheduled('pg1'),
      ],
    },
    {
      name: 'minCount is scheduled, but one pod from a gang remain unschedulable until the blocked resources are released',
      steps: [
        createPods('small-blocker'),
        bound('small-blocker'),
        createPods('p1', 'p2', 'p3', 'p4'),
        createGroup('pg1'),
        { expect: 'some bound', pods: ['p1', 'p2', 'p3', 'p4'], bound: 3 },
        deletePods('small-blocker'),
        bound('p1', 'p2', 'p3', 'p4'),
      ],
    },
    {
      name: "two gangs competing for the same resources shouldn't deadlock, reversed order",
      steps: [
        createGroup('pg1'),
        createGroup('pg2'),
        createPods('other-p3', 'p3', 'other-p2', 'p2', 'other-p1', 'p1'),
        bound('other-p1', 'other-p2', 'other-p3'),
        unschedulable('p1', 'p2', 'p3'),
      ],
    },
    {
      name: "two gangs competing for the same resources shouldn't deadlock",
      steps: [
        createGroup('pg1'),
        createGroup('pg2'),
        createPods('p1', 'other-p1', 'p2', 'other-p2', 'p3', 'other-p3'),
        bound('p1', 'p2', 'p3'),
        unschedulable('other-p1', 'other-p2', 'other-p3'),
      ],
    },
    {
      name: "pod group interleaving with an individual pod shouldn't deadlock nor livelock, and the individual pod gets scheduled",
      steps: [
        createGroup('pg1'),
        createPods('blocker', 'p1', 'p2', 'p3'),
        bound('blocker'),
        unschedulable('p1', 'p2', 'p3'),
      ],
    },
    {
      name: 'basic group schedules when pod group and resources are available, without gang enforcement',
      steps: [createGroup('pg1@basic'), createPods('p1'), bound('p1'), createPods('p2', 'p3'), bound('p1', 'p2', 'p3')],
    },
    {
      name: 'basic group waits for pod group, part of it waits for resources, then schedules',
      steps: [
        createPods('blocker'),
        bound('blocker'),
        createPods('p1', 'p2', 'p3'),
        notTried('p1', 'p2', 'p3'),
        createGroup('pg1@basic'),
        { expect: 'some bound', pods: ['p1', 'p2', 'p3'], bound: 2 },
        deletePods('blocker'),
        bound('p1', 'p2', 'p3'),
      ],
    },
    {
      name: 'basic group schedules with workload-aware preemption',
      withoutGates: ['TopologyAwareWorkloadScheduling'],
      steps: [
        createPods('low-priority-blocker'),
        bound('low-priority-blocker'),
        createGroup('pg1@basic'),
        createPods('p1', 'p2', 'p3', 'p4'),
        bound('p1', 'p2', 'p3', 'p4'),
        removed('low-priority-blocker'),
      ],
    },
    {
      name: 'gang schedules with workload-aware preemption',
      surplusPreempts: true,
      steps: [
        createPods('low-p1', 'low-p2', 'low-p3', 'low-p4'),
        bound('low-p1', 'low-p2', 'low-p3', 'low-p4'),
        createGroup('pg1'),
        createPods('p1', 'p2', 'p3', 'p4'),
        bound('p1', 'p2', 'p3', 'p4'),
        isScheduled('pg1'),
        removed('low-p1', 'low-p2', 'low-p3', 'low-p4'),
      ],
    },
    {
      name: 'gang schedules with partial workload-aware preemption',
      steps: [
        createPods('very-low-p1', 'very-low-p2', 'low-p1', 'low-p2'),
        bound('very-low-p1', 'very-low-p2', 'low-p1', 'low-p2'),
        createGroup('mid-pg'),
        createPods('mid-p1', 'mid-p2'),
        bound('mid-p1', 'mid-p2', 'low-p1', 'low-p2'),
        removed('very-low-p1', 'very-low-p2'),
      ],
    },
    {
      name: 'tas gang with constraint uses workload preemption',
      gates: ['TopologyAwareWorkloadScheduling'],
      inTutti: {
        why: topology,
        steps: [
          createPods('very-low-p1', 'very-low-p2', 'low-p1', 'low-p2'),
          bound('very-low-p1', 'very-low-p2', 'low-p1', 'low-p2'),
          createGroup('mid-pg@zone'),
          createPods('mid-p1', 'mid-p2'),
          held('mid-p1', 'mid-p2'),
          bound('very-low-p1', 'very-low-p2', 'low-p1', 'low-p2'),
        ],
      },
      steps: [
        createPods('very-low-p1', 'very-low-p2', 'low-p1', 'low-p2'),
        bound('very-low-p1', 'very-low-p2', 'low-p1', 'low-p2'),
        createGroup('mid-pg@zone'),
        createPods('mid-p1', 'mid-p2'),
        bound('mid-p1', 'mid-p2', 'low-p1', 'low-p2'),
        removed('very-low-p1', 'very-low-p2'),
      ],
    },
    {
      name: 'gang pods are unschedulable due to lack of quorum, then scheduled when minCount is decreased',
      steps: [
        createGroup('pg-mutable'),
        createPods('mut-p1', 'mut-p2', 'mut-p3', 'mut-p4'),
        notTried('mut-p1', 'mut-p2', 'mut-p3', 'mut-p4'),
        { do: 'set minCount', group: 'pg-mutable', to: 4 },
        bound('mut-p1', 'mut-p2', 'mut-p3', 'mut-p4'),
      ],
    },
    {
      name: 'gang pods are unschedulable due to lack of space, then scheduled when minCount is decreased',
      steps: [
        createGroup('pg-mutable'),
        createPods('mut-p1', 'mut-p2', 'mut-p3', 'mut-p4', 'mut-p5'),
        unschedulable('mut-p1', 'mut-p2', 'mut-p3', 'mut-p4', 'mut-p5'),
        { do: 'set minCount', group: 'pg-mutable', to: 4 },
        bound('mut-p1', 'mut-p2', 'mut-p3', 'mut-p4'),
        unschedulable('mut-p5'),
      ],
    },
    {
      // Upstream counts attempts in the queue: there are none.
      name: 'gang pods are unschedulable due to lack of quorum, and remain unschedulable without triggering reschedule when minCount is increased',
      steps: [
        createGroup('pg-mutable'),
        createPods('mut-p1', 'mut-p2', 'mut-p3', 'mut-p4'),
        notTried('mut-p1', 'mut-p2', 'mut-p3', 'mut-p4'),
        { do: 'set minCount', group: 'pg-mutable', to: 6 },
        notTried('mut-p1', 'mut-p2', 'mut-p3', 'mut-p4'),
      ],
    },
  ],
};

const preemption: UpstreamTest = {
  test: 'TestWorkloadAwarePreemptionInvocation',
  nodes: { node: { cpu: 4 } },
  firstNodes: ['node'],
  groups: { pg1: { minCount: 3, priority: 'highest', disruptionMode: 'all' } },
  pods: {
    ...plain('mid', 1, ['low-1', 'low-2', 'low-3', 'low-4']),
    ...members('pg1', 'highest', ['high-1', 'high-2', 'high-3']),
  },
  cases: [
    {
      name: 'TestWorkloadAwarePreemptionInvocation',
      steps: [
        createPods('low-1', 'low-2', 'low-3', 'low-4'),
        bound('low-1', 'low-2', 'low-3', 'low-4'),
        createGroup('pg1'),
        createPods('high-1', 'high-2', 'high-3'),
        { expect: 'preempted', pods: ['low-1', 'low-2', 'low-3', 'low-4'] },
      ],
    },
  ],
};

const antiAffinity: UpstreamTest = {
  test: 'TestPodGroupSchedulingWithPodAntiAffinity',
  nodes: { 'node-1': { cpu: 2 }, 'node-2': { cpu: 2 } },
  firstNodes: ['node-1'],
  groups: { pg: { minCount: 2, priority: 'highest' } },
  pods: {
    'anti-pod': {
      group: 'pg',
      cpu: 1,
      priority: 'highest',
      labels: { app: 'foo' },
      nodeSelector: { [hostname]: 'node-1' },
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { labelSelector: { matchLabels: { app: 'foo' } }, topologyKey: hostname },
          ],
        },
      },
    },
    'plain-pod': { group: 'pg', cpu: 1, priority: 'highest', labels: { app: 'foo' } },
  },
  cases: [
    {
      name: 'anti-affinity honored across the cycle on a multi-topology cluster',
      steps: [
        { do: 'add nodes', nodes: ['node-2'] },
        createGroup('pg'),
        createPods('anti-pod', 'plain-pod'),
        bound('anti-pod', 'plain-pod'),
        { expect: 'node', pods: ['anti-pod'], node: 'node-1' },
        { expect: 'node', pods: ['plain-pod'], node: 'node-2' },
      ],
    },
    {
      name: 'anti-affinity keeps the group unschedulable on a single-topology cluster',
      steps: [
        createGroup('pg'),
        createPods('anti-pod', 'plain-pod'),
        unschedulable('anti-pod', 'plain-pod'),
        isUnschedulable('pg'),
      ],
    },
  ],
};

const claims: UpstreamTest = {
  test: 'TestPodGroupSchedulingWithReadWriteOncePodPVC',
  nodes: { 'node-1': { cpu: 2 } },
  firstNodes: ['node-1'],
  groups: { pg: { minCount: 2, priority: 'highest' } },
  pods: {
    'pvc-pod-1': { group: 'pg', cpu: 1, priority: 'highest', claims: ['pvc-1'] },
    'pvc-pod-2': { group: 'pg', cpu: 1, priority: 'highest', claims: ['pvc-1'] },
    'pvc-pod-2@distinct': { group: 'pg', cpu: 1, priority: 'highest', claims: ['pvc-2'] },
  },
  cases: [
    {
      name: 'two pods sharing a ReadWriteOncePod PVC keep the group unschedulable',
      claims: ['pvc-1'],
      steps: [
        createGroup('pg'),
        createPods('pvc-pod-1', 'pvc-pod-2'),
        unschedulable('pvc-pod-1', 'pvc-pod-2'),
        isUnschedulable('pg'),
      ],
    },
    {
      name: 'two pods with distinct ReadWriteOncePod PVCs are scheduled',
      claims: ['pvc-1', 'pvc-2'],
      steps: [createGroup('pg'), createPods('pvc-pod-1', 'pvc-pod-2@distinct'), bound('pvc-pod-1', 'pvc-pod-2')],
    },
  ],
};

/** Tests without a case here -> why. Composite groups are left out. */
export const podGroupTestsNotHere: Readonly<Record<string, string>> = {
  TestPostFilterNotCalled: 'It counts the calls of a plugin of its own: PostFilter must not run for single members.',
  TestPodGroupPostFilterIteration: 'It counts the calls of two plugins of its own at PodGroupPostFilter.',
  TestTopologyAwareSchedulingWithGangPolicy: topology,
  TestTopologyAwareSchedulingWithBasicPolicy: topology,
};

/** The tests in test/integration/scheduler/podgroup itself, without composite groups. */
export const podGroupTests: readonly UpstreamTest[] = [scheduling, preemption, antiAffinity, claims];
