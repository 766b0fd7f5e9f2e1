import type { NativeGroup, NativePod, UpstreamCase, UpstreamTest } from './upstream-podgroup-case.ts';
import { bound, createGroup, createPods, removed, unschedulable } from './upstream-podgroup-case.ts';

const hostname = 'kubernetes.io/hostname';

type Pods = Readonly<Record<string, NativePod>>;

interface Preemption extends Pick<UpstreamCase, 'gates' | 'withoutGates' | 'surplusPreempts'> {
  /** name -> CPUs */
  readonly nodes: Readonly<Record<string, number>>;
  readonly groups: Readonly<Record<string, NativeGroup>>;
  /** Bound before the others are created. */
  readonly first: Pods;
  readonly then: Pods;
  readonly bound: readonly string[];
  readonly removed?: readonly string[];
  readonly unschedulable?: readonly string[];
  /** How many of `then` are bound in the end; the others are Unschedulable. Upstream creates equal pods in order, and names them. */
  readonly fit?: number;
}

function preemption(name: string, { nodes, groups, first, then, ...expected }: Preemption): UpstreamTest {
  const { gates, withoutGates, surplusPreempts, removed: gone = [], unschedulable: waiting = [], fit } = expected;
  return {
    test: 'TestPodGroupPreemption',
    nodes: Object.fromEntries(Object.entries(nodes).map(([node, cpu]) => [node, { cpu }])),
    firstNodes: Object.keys(nodes),
    groups,
    pods: { ...first, ...then },
    cases: [
      {
        name,
        ...(gates && { gates }),
        ...(withoutGates && { withoutGates }),
        ...(surplusPreempts && { surplusPreempts }),
        steps: [
          ...Object.keys(groups).map(createGroup),
          createPods(...Object.keys(first)),
          bound(...Object.keys(first)),
          createPods(...Object.keys(then)),
          unschedulable(...waiting),
          bound(...expected.bound),
          removed(...gone),
          ...(fit === undefined ? [] : [{ expect: 'some bound', pods: Object.keys(then), bound: fit } as const]),
        ],
      },
    ],
  };
}

function of(names: readonly string[], pod: NativePod): Pods {
  return Object.fromEntries(names.map((name) => [name, { cpu: 1, ...pod }]));
}

const one = { node1: 3 };
const four = { node1: 1, node2: 1, node3: 1, node4: 1 };
const low = of(['low-1', 'low-2', 'low-3'], { priority: 'low' });
const high = of(['high-1', 'high-2', 'high-3'], { group: 'pg1', priority: 'high' });
const never = of(['high-1', 'high-2', 'high-3'], { group: 'pg1', priority: 'never' });
const preemptors = of(['p-a', 'p-b', 'p-c'], { group: 'preemptor-pg', priority: 'high' });
const allOfLow = { bound: Object.keys(high), removed: Object.keys(low) };
const noneOfLow = { bound: Object.keys(low), unschedulable: Object.keys(high) };
const withPolicy = { gates: ['PodGroupPreemptionPolicy'] };

/** Two of four nodes run pods of a higher priority than the three preemptors. */
const halfFull = {
  nodes: four,
  first: {
    p1: { cpu: 1, priority: 'low', nodeName: 'node1' },
    p2: { cpu: 1, priority: 'low', nodeName: 'node2' },
    p3: { cpu: 1, priority: 'highest', nodeName: 'node3' },
    p4: { cpu: 1, priority: 'highest', nodeName: 'node4' },
  },
  then: preemptors,
  bound: ['p3', 'p4'],
  removed: ['p1', 'p2'],
  fit: 2,
} as const;

const lowerGroup = {
  nodes: { node1: 1, node2: 1, node3: 1 },
  first: {
    v1: { cpu: 1, priority: 'mid', group: 'victim-pg', nodeName: 'node1' },
    v2: { cpu: 1, priority: 'mid', group: 'victim-pg', nodeName: 'node2' },
    v3: { cpu: 1, priority: 'low', nodeName: 'node3' },
  },
  then: preemptors,
  bound: ['p-a', 'p-b', 'p-c'],
  removed: ['v1', 'v2', 'v3'],
} as const;
const lowerVictims = { 'victim-pg': { minCount: 1, priority: 'mid', disruptionMode: 'all' } } as const;

const twoGroups = {
  nodes: four,
  first: {
    v1: { cpu: 1, priority: 'mid', group: 'victim-pg', nodeName: 'node1' },
    v2: { cpu: 1, priority: 'mid', group: 'victim-pg', nodeName: 'node2' },
    v3: { cpu: 1, priority: 'highest', group: 'victim-pg2', nodeName: 'node3' },
    v4: { cpu: 1, priority: 'highest', group: 'victim-pg2', nodeName: 'node4' },
  },
  then: preemptors,
  bound: ['v3', 'v4'],
  removed: ['v1', 'v2'],
  fit: 2,
} as const;
const twoVictims = {
  'victim-pg': { minCount: 2, priority: 'mid', disruptionMode: 'all' },
  'victim-pg2': { minCount: 2, priority: 'highest', disruptionMode: 'all' },
} as const;

/** Each of two preemptors needs a node for itself, and a small pod is on one of them. */
const twoNodes = {
  groups: { 'preemptor-pg': { minCount: 2, priority: 'high' } },
  bound: ['preemptor-1', 'preemptor-2'],
  removed: ['initial-pod'],
} as const;
const noneWithLabel: NativePod = {
  group: 'preemptor-pg',
  priority: 'high',
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] }, topologyKey: hostname },
      ],
    },
  },
};
const spread: NativePod = {
  group: 'preemptor-pg',
  priority: 'high',
  labels: { app: 'foo' },
  nodeSelector: { [hostname]: 'node1' },
  topologySpread: [
    {
      maxSkew: 2,
      topologyKey: hostname,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'foo' } },
      minDomains: 10,
    },
  ],
};

/**
 * TestPodGroupPreemption in test/integration/scheduler/preemption/podgroup, without the cases that need a plugin of their own, host ports,
 * pod-level resources, a disruption budget or a topology constraint. Its priorities 5, 10, 50, 100 and more are last, low, mid, high and
 * highest here.
 */
export const podGroupPreemptionTests: readonly UpstreamTest[] = [
  preemption('Full PodGroup Preemption', {
    nodes: one,
    groups: { pg1: { minCount: 3, priority: 'high' } },
    first: low,
    then: high,
    ...allOfLow,
  }),
  preemption('Full PodGroup Preemption for basic policy', {
    nodes: one,
    groups: { pg1: { priority: 'high' } },
    first: low,
    then: high,
    ...allOfLow,
  }),
  preemption('Multi-node Preemption', {
    nodes: { node1: 2, node2: 2 },
    groups: { pg1: { minCount: 4, priority: 'high' } },
    first: {
      ...of(['low-1', 'low-2'], { priority: 'low', nodeName: 'node1' }),
      ...of(['low-3', 'low-4'], { priority: 'low', nodeName: 'node2' }),
    },
    then: of(['high-1', 'high-2', 'high-3', 'high-4'], { group: 'pg1', priority: 'high' }),
    bound: ['high-1', 'high-2', 'high-3', 'high-4'],
    removed: ['low-1', 'low-2', 'low-3', 'low-4'],
  }),
  preemption('Insufficient Resources (No Preemption)', {
    nodes: one,
    groups: { pg1: { minCount: 3, priority: 'high' } },
    first: { 'mid-1': { cpu: 1, priority: 'highest' }, ...of(['low-1', 'low-2'], { priority: 'low' }) },
    then: high,
    bound: ['mid-1', 'low-1', 'low-2'],
    unschedulable: Object.keys(high),
  }),
  preemption('Priority-based Victim Selection', {
    nodes: one,
    groups: { pg1: { minCount: 2, priority: 'high' } },
    first: { 'mid-1': { cpu: 1, priority: 'mid' }, ...of(['low-1', 'low-2'], { priority: 'low' }) },
    then: of(['high-1', 'high-2'], { group: 'pg1', priority: 'high' }),
    bound: ['high-1', 'high-2', 'mid-1'],
    removed: ['low-1', 'low-2'],
  }),
  preemption('Preempt the whole PodGroup even if preempting a single Pod would suffice', {
    nodes: one,
    groups: {
      pg1: { minCount: 1, priority: 'high' },
      pg2: { minCount: 3, priority: 'low', disruptionMode: 'all' },
    },
    first: of(['low-1', 'low-2', 'low-3'], { group: 'pg2', priority: 'low' }),
    then: of(['high-1'], { group: 'pg1', priority: 'high' }),
    bound: ['high-1'],
    removed: ['low-1', 'low-2', 'low-3'],
  }),
  preemption('Preempt the whole basic PodGroup with a PodGroup disruption mode', {
    nodes: one,
    groups: { pg1: { minCount: 1, priority: 'high' }, pg2: { priority: 'low', disruptionMode: 'all' } },
    first: of(['low-1', 'low-2', 'low-3'], { group: 'pg2', priority: 'low' }),
    then: of(['high-1'], { group: 'pg1', priority: 'high' }),
    bound: ['high-1'],
    removed: ['low-1', 'low-2', 'low-3'],
  }),
  preemption(
    'Gang scheduling: schedule as many pods as possible without preempting higher priority pods, but still more than minCount',
    { ...halfFull, groups: { 'preemptor-pg': { minCount: 1, priority: 'high' } }, surplusPreempts: true },
  ),
  preemption('Gang scheduling: do not reprieve victim pod group of lower priority', {
    ...lowerGroup,
    groups: { ...lowerVictims, 'preemptor-pg': { minCount: 3, priority: 'high' } },
  }),
  preemption('Gang scheduling: preempt a pod group victim but do not schedule full pod group', {
    ...twoGroups,
    groups: { ...twoVictims, 'preemptor-pg': { minCount: 1, priority: 'high', disruptionMode: 'all' } },
  }),
  preemption('Basic scheduling: schedule as many pods as possible without preempting higher priority pods', {
    ...halfFull,
    groups: { 'preemptor-pg': { priority: 'high' } },
  }),
  preemption('Basic scheduling: do not reprieve victim pod group of lower priority', {
    ...lowerGroup,
    groups: { ...lowerVictims, 'preemptor-pg': { priority: 'high' } },
  }),
  preemption('Basic scheduling: preempt a pod group victim but do not schedule full pod group', {
    ...twoGroups,
    groups: { ...twoVictims, 'preemptor-pg': { priority: 'high', disruptionMode: 'all' } },
  }),
  preemption(
    'PodGroup with PreemptNever preemption policy does not perform preemption, with PodGroupPreemptionPolicy enabled',
    {
      ...withPolicy,
      nodes: one,
      groups: { pg1: { minCount: 3, priority: 'never', preemptionPolicy: 'Never' } },
      first: low,
      then: never,
      ...noneOfLow,
    },
  ),
  preemption(
    'PodGroup with PreemptLowerPriority preemption policy performs preemption, with PodGroupPreemptionPolicy enabled',
    {
      ...withPolicy,
      nodes: one,
      groups: { pg1: { minCount: 3, priority: 'high', preemptionPolicy: 'PreemptLowerPriority' } },
      first: low,
      then: high,
      ...allOfLow,
    },
  ),
  preemption('PodGroup with default preemption policy performs preemption, with PodGroupPreemptionPolicy enabled', {
    ...withPolicy,
    nodes: one,
    groups: { pg1: { minCount: 3, priority: 'high' } },
    first: low,
    then: high,
    ...allOfLow,
  }),
  preemption(
    'PodGroup with PreemptNever preemption policy in all pods does not perform preemption, with PodGroupPreemptionPolicy disabled',
    {
      withoutGates: ['PodGroupPreemptionPolicy'],
      nodes: one,
      groups: { pg1: { minCount: 3, priority: 'never' } },
      first: low,
      then: never,
      ...noneOfLow,
    },
  ),
  preemption('Gang scheduling: preemption with node resources', {
    ...twoNodes,
    nodes: { node1: 2, node2: 2 },
    first: { 'initial-pod': { cpu: 2, priority: 'low', nodeName: 'node1' } },
    then: of(['preemptor-1', 'preemptor-2'], { group: 'preemptor-pg', priority: 'high', cpu: 2 }),
  }),
  preemption('Gang scheduling: preemption with node resources, prioritizes reprieval of higher priority pods', {
    ...twoNodes,
    nodes: { node1: 2, node2: 2 },
    first: {
      'initial-pod-1': { cpu: 1, priority: 'last', nodeName: 'node1' },
      'initial-pod-2': { cpu: 1, priority: 'low', nodeName: 'node1' },
    },
    then: {
      'preemptor-1': { cpu: 1, group: 'preemptor-pg', priority: 'high', nodeSelector: { [hostname]: 'node1' } },
      'preemptor-2': { cpu: 1, group: 'preemptor-pg', priority: 'high', nodeSelector: { [hostname]: 'node2' } },
    },
    bound: ['preemptor-1', 'preemptor-2', 'initial-pod-2'],
    removed: ['initial-pod-1'],
  }),
  preemption('Gang scheduling: preemption with pod anti-affinity constraints', {
    ...twoNodes,
    nodes: { node1: 2, node2: 2 },
    first: { 'initial-pod': { cpu: '250m', priority: 'low', labels: { app: 'initial' }, nodeName: 'node1' } },
    then: of(['preemptor-1', 'preemptor-2'], { ...noneWithLabel, cpu: '1500m' }),
  }),
  preemption('Gang scheduling: preemption with pod topology spread constraints', {
    ...twoNodes,
    nodes: { node1: 16, node2: 16 },
    first: { 'initial-pod': { cpu: 1, priority: 'low', labels: { app: 'foo' }, nodeName: 'node1' } },
    then: of(['preemptor-1', 'preemptor-2'], spread),
  }),
  preemption('Gang scheduling: preemption with pod topology spread constraints, single reprieve', {
    ...twoNodes,
    nodes: { node1: 16, node2: 16 },
    first: {
      'initial-pod': { cpu: 1, priority: 'low', labels: { app: 'foo' }, nodeName: 'node1' },
      'initial-pod-2': { cpu: 1, priority: 'last', labels: { app: 'foo' }, nodeName: 'node2' },
    },
    then: of(['preemptor-1', 'preemptor-2'], spread),
    bound: ['preemptor-1', 'preemptor-2', 'initial-pod-2'],
  }),
];
