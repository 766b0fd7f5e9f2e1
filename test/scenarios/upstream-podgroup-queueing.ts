import type { NativePod, UpstreamCase, UpstreamTest } from './upstream-podgroup-case.ts';
import { addNodes, bound, createGroup, createPods, held, notTried, unschedulable } from './upstream-podgroup-case.ts';

const ungate = (pod: string) => ({ do: 'ungate pods', pods: [pod] }) as const;
const failBinding = { do: 'fail a Binding', pod: 'p1' } as const;
const deleteGroup = { do: 'delete group', group: 'pg' } as const;
const basicIsSingle =
  'Tutti schedules the pods of a Basic group as single pods, so that a gated one does not hold the others.';

function of(cpu: number, more: NativePod = {}): NativePod {
  return { group: 'pg', cpu, ...more };
}

/** The group `pg` is a gang of two, and `pg@basic` has the policy Basic. */
function gated(name: string, group: string, more: Partial<UpstreamCase> = {}): UpstreamCase {
  return {
    name,
    ...more,
    steps: [
      addNodes('node2'),
      createGroup(group),
      createPods('p1@gated'),
      held('p1'),
      createPods('p2', 'p3'),
      notTried('p2', 'p3'),
      ungate('p1'),
      bound('p1', 'p2', 'p3'),
    ],
  };
}

function retriedAlone(name: string, group: string): UpstreamCase {
  return { name, steps: [failBinding, createGroup(group), createPods('p1'), bound('p1')] };
}

function retried(name: string, group: string): UpstreamCase {
  return {
    name,
    steps: [addNodes('node2'), failBinding, createGroup(group), createPods('p1', 'p2'), bound('p1', 'p2')],
  };
}

function deletedWhenBound(name: string, group: string): UpstreamCase {
  return {
    name,
    steps: [
      createGroup(group),
      createPods('p1@small', 'p2@small'),
      bound('p1', 'p2'),
      deleteGroup,
      createPods('p3'),
      notTried('p3'),
    ],
  };
}

function deletedWhenPartlyBound(name: string, group: string): UpstreamCase {
  return {
    name,
    steps: [
      createGroup(group),
      createPods('p1@small', 'p2@small', 'p3'),
      bound('p1', 'p2'),
      unschedulable('p3'),
      deleteGroup,
      // Upstream looks into the queue. Here, the capacity that p3 lacked shows that nothing tries it any more.
      addNodes('node2'),
      held('p3'),
    ],
  };
}

/**
 * queueing/queueing_test.go. The scheduler here cannot be stopped in the middle of a cycle. A pod that upstream creates there comes right
 * after the pods that start the cycle, and a Binding fails where upstream lets PreBind fail.
 */
const queueing: UpstreamTest = {
  test: 'TestPodGroupQueueing',
  nodes: { node: { cpu: 2 }, node2: { cpu: 6 } },
  firstNodes: ['node'],
  groups: { pg: { minCount: 2 }, 'pg@single': { minCount: 1 }, 'pg@triple': { minCount: 3 }, 'pg@basic': {} },
  pods: {
    p1: of(2),
    p2: of(2),
    p3: of(2),
    p4: of(2),
    'p1@small': of(1),
    'p2@small': of(1),
    'p2@large': of(4),
    'p1@gated': of(2, { gates: ['example.com/foo-gate'] }),
    'p3@gated': of(2, { gates: ['example.com/foo-gate'] }),
  },
  cases: [
    {
      name: 'Gang scheduling pod group queueing when new member pods are added',
      steps: [
        createGroup('pg'),
        createPods('p1', 'p2'),
        unschedulable('p1', 'p2'),
        createPods('p3'),
        unschedulable('p1', 'p2', 'p3'),
        addNodes('node2'),
        bound('p1', 'p2', 'p3'),
        createPods('p4'),
        bound('p1', 'p2', 'p3', 'p4'),
      ],
    },
    {
      name: 'Basic policy pod group queueing when new member pods are added',
      steps: [
        createGroup('pg@basic'),
        createPods('p1'),
        bound('p1'),
        createPods('p2'),
        unschedulable('p2'),
        createPods('p3'),
        unschedulable('p2', 'p3'),
        addNodes('node2'),
        bound('p1', 'p2', 'p3'),
      ],
    },
    {
      name: 'Gang scheduling pod group member pod added mid-cycle is correctly buffered and retried after unschedulable attempt',
      steps: [
        createGroup('pg'),
        createPods('p1', 'p2', 'p3'),
        unschedulable('p1', 'p2', 'p3'),
        addNodes('node2'),
        bound('p1', 'p2', 'p3'),
      ],
    },
    {
      name: 'Gang scheduling pod group member pod added mid-cycle is correctly buffered and retried after schedulable attempt',
      steps: [addNodes('node2'), createGroup('pg'), createPods('p1', 'p2', 'p3'), bound('p1', 'p2', 'p3')],
    },
    {
      name: 'Basic policy pod group member pod added mid-cycle is correctly buffered and retried after unschedulable attempt',
      steps: [
        createGroup('pg@basic'),
        createPods('p1'),
        bound('p1'),
        createPods('p2', 'p3'),
        unschedulable('p2', 'p3'),
        addNodes('node2'),
        bound('p1', 'p2', 'p3'),
      ],
    },
    {
      name: 'Basic policy pod group member pod added mid-cycle is correctly buffered and retried after schedulable attempt',
      steps: [addNodes('node2'), createGroup('pg@basic'), createPods('p1', 'p2', 'p3'), bound('p1', 'p2', 'p3')],
    },
    gated('Single gated pod blocks gang group from being scheduled until pod is ungated', 'pg'),
    gated('Single gated pod blocks basic group from being scheduled until pod is ungated', 'pg@basic', {
      inTutti: {
        why: basicIsSingle,
        steps: [
          addNodes('node2'),
          createGroup('pg@basic'),
          createPods('p1@gated'),
          createPods('p2', 'p3'),
          bound('p2', 'p3'),
          held('p1'),
          ungate('p1'),
          bound('p1'),
        ],
      },
    }),
    {
      name: 'Gang pod group in active queue becomes gated when a new gated member pod is added',
      steps: [
        createGroup('pg'),
        createPods('p1', 'p2'),
        unschedulable('p1', 'p2'),
        createPods('p3@gated'),
        held('p1', 'p2', 'p3'),
        addNodes('node2'),
        held('p1', 'p2', 'p3'),
        ungate('p3'),
        bound('p1', 'p2', 'p3'),
      ],
    },
    {
      name: 'Basic pod group in active queue becomes gated when a new gated member pod is added',
      inTutti: {
        why: basicIsSingle,
        steps: [
          createGroup('pg@basic'),
          createPods('p1'),
          bound('p1'),
          createPods('p2'),
          unschedulable('p2'),
          createPods('p3@gated'),
          addNodes('node2'),
          bound('p2'),
          held('p3'),
          ungate('p3'),
          bound('p3'),
        ],
      },
      steps: [
        createGroup('pg@basic'),
        createPods('p1'),
        bound('p1'),
        createPods('p2'),
        unschedulable('p2'),
        createPods('p3@gated'),
        held('p2', 'p3'),
        addNodes('node2'),
        held('p2', 'p3'),
        ungate('p3'),
        bound('p1', 'p2', 'p3'),
      ],
    },
    retried('Gang scheduling pod group member pod fails PreBind, is correctly retried and scheduled', 'pg'),
    retried('Basic policy pod group member pod fails PreBind, is correctly retried and scheduled', 'pg@basic'),
    retriedAlone('Single member gang pod group fails PreBind, is correctly retried and scheduled', 'pg@single'),
    retriedAlone('Single member basic policy pod group fails PreBind, is correctly retried and scheduled', 'pg@basic'),
    {
      name: 'Gang scheduling pod group member pod fails PreBind while other is unschedulable, is correctly retried and scheduled',
      steps: [
        failBinding,
        createPods('p1', 'p2@large'),
        notTried('p1', 'p2'),
        createGroup('pg@single'),
        bound('p1'),
        unschedulable('p2'),
        addNodes('node2'),
        bound('p1', 'p2'),
      ],
    },
    {
      name: 'Basic policy pod group member pod fails PreBind while other is unschedulable, is correctly retried and scheduled',
      steps: [
        failBinding,
        createGroup('pg@basic'),
        createPods('p1', 'p2@large'),
        bound('p1'),
        unschedulable('p2'),
        addNodes('node2'),
        bound('p1', 'p2'),
      ],
    },
    deletedWhenBound(
      'gang is scheduled, then pod group is deleted, and new enqueued pods belong to it end up in incompletePodGroupPods',
      'pg',
    ),
    deletedWhenBound(
      'basic group is scheduled, then pod group is deleted, and new enqueued pods belong to it end up in incompletePodGroupPods',
      'pg@basic',
    ),
    deletedWhenPartlyBound(
      'gang is partially scheduled, then pod group is deleted, unschedulable pods end up in incompletePodGroupPods',
      'pg',
    ),
    deletedWhenPartlyBound(
      'basic group is partially scheduled, then pod group is deleted, unschedulable pods end up in incompletePodGroupPods',
      'pg@basic',
    ),
    {
      name: 'gang is unschedulable, then pod group is deleted, unschedulable pods end up in incompletePodGroupPods',
      steps: [
        createGroup('pg@triple'),
        createPods('p1@small', 'p2@small', 'p3'),
        unschedulable('p1', 'p2', 'p3'),
        deleteGroup,
        addNodes('node2'),
        held('p1', 'p2', 'p3'),
      ],
    },
  ],
};

const sequential: UpstreamTest = {
  ...queueing,
  test: 'TestPodGroupSequentialQueueing',
  nodes: { node: { cpu: 2 } },
  cases: [
    {
      // Upstream sees the group back in the active queue.
      name: 'Gang scheduling pod group fails scheduling and retries without any cluster change',
      steps: [createGroup('pg'), createPods('p1', 'p2'), unschedulable('p1', 'p2')],
    },
    {
      name: 'Basic policy pod group partially fails scheduling and retries without any cluster change',
      steps: [createGroup('pg@basic'), createPods('p1', 'p2'), { expect: 'some bound', pods: ['p1', 'p2'], bound: 1 }],
    },
  ],
};

const requeued: UpstreamTest = {
  test: 'TestPodGroupRequeueRemainingOnSchedulingSuccess',
  nodes: { node: { cpu: 4 }, node2: { cpu: 4 } },
  firstNodes: ['node'],
  groups: { pg: {} },
  pods: {
    'pg-p1': of(2),
    'pg-p2': of(2),
    'pg-p3': of(2),
    // Upstream's scheduler has no cycle in which this pod could preempt the group.
    'high-priority-pod': { cpu: 4, priority: 'never' },
  },
  cases: [
    {
      name: 'After successfully scheduling a podgroup and requeuing a remaining unscheduled pod, the next scheduling attempt prioritizes the higher priority pod',
      steps: [
        createGroup('pg'),
        createPods('pg-p1', 'pg-p2', 'pg-p3'),
        { expect: 'some bound', pods: ['pg-p1', 'pg-p2', 'pg-p3'], bound: 2 },
        createPods('high-priority-pod'),
        unschedulable('high-priority-pod'),
        addNodes('node2'),
        bound('high-priority-pod'),
        { expect: 'some bound', pods: ['pg-p1', 'pg-p2', 'pg-p3'], bound: 2 },
      ],
    },
  ],
};

/** Cases of the last test that are not here: they compare the order of two entries of one priority in a queue that runs one cycle at a time. */
export const queueingCasesNotHere: readonly string[] = [
  'After successfully scheduling a podgroup and requeuing a remaining unscheduled pod, the next scheduling attempt prioritizes the old pod if priorities are equal',
  'After successfully scheduling a podgroup with a new pending pod added mid-cycle, an older individual pod in queue is prioritized if priorities are equal',
];

/** The tests in test/integration/scheduler/podgroup/queueing. */
export const podGroupQueueingTests: readonly UpstreamTest[] = [queueing, sequential, requeued];
