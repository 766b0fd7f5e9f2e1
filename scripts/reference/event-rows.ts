import { describeMislabeledWorkload } from '../../src/api/mislabeled-workload.ts';
import type { Verdict } from '../../src/api/verdict.ts';
import type { EventToRecord } from '../../src/client/event-recorder.ts';
import { labelMissingEvent, membersAbsentEvent } from '../../src/controller/label-missing.ts';
import * as events from '../../src/scheduler/verdicts/events.ts';
import { defaultPlugins } from '../../src/plugins/registry.ts';
import { CoreHarness } from '../../src/testkit/core-harness.ts';

export interface EventRow {
  readonly about: string;
  readonly type: string;
  readonly reason: string;
  readonly action: string;
  readonly when: string;
  /** A sample note. */
  readonly note: string;
}

type Sample = readonly [when: string, event: EventToRecord | undefined];

/** Returns one sample of each Event that the scheduler and the controller record. */
export function eventRows(): readonly EventRow[] {
  const harness = new CoreHarness({ plugins: defaultPlugins });
  const gang = harness.group({ name: 'train', uid: 'u', minMember: 3 });
  const pod = harness.pod({ name: 'train-0', uid: 'p', group: 'train', schedulerName: 'tutti' });
  const onNode = { ...pod, nodeName: 'node-1' };
  const waiting: Verdict = {
    reason: 'WaitingForGang',
    waitsFor: 'members',
    message: 'PodGroup default/train has 1 of the 3 members it needs to start',
  };
  const noCapacity: Verdict = {
    reason: 'Unschedulable',
    waitsFor: 'capacity',
    message:
      'PodGroup default/train cannot start: 2 of 3 members would fit; train-2 would not: 0/2 nodes are available: 2 Insufficient cpu.',
  };
  const behind: Verdict = {
    reason: 'WaitingForTurn',
    waitsFor: 'turn',
    message:
      'PodGroup default/train cannot start: train-1 finds no node: 0/2 nodes are available: 2 Insufficient cpu (capacity reserved for other pods). Capacity is reserved for default/big, which starts by 12:40Z.',
  };
  const disagreement = events.podGroupDisagreement(pod, { label: 'train', annotation: 'test' });
  /** function that creates Events -> samples of its Events. The type requires an entry for each function. */
  const samples: Readonly<Record<keyof typeof events, readonly Sample[]>> = {
    scheduled: [['The pod is bound', events.scheduled(pod, 'node-1')]],
    notScheduled: [
      ['The verdict of the pod changed, or binding failed', events.notScheduled(pod, noCapacity)],
      ['The group of the pod is not ready', events.notScheduled(pod, waiting)],
      ['The pod or its group would fit only on reserved capacity', events.notScheduled(pod, behind)],
    ],
    groupScheduled: [['All members of a plan are bound', events.groupScheduled(gang, [pod, pod, pod], 2)]],
    groupNotScheduled: [
      ['The verdict of the group changed, or binding a member failed', events.groupNotScheduled(gang, pod, noCapacity)],
      ['The group is not ready', events.groupNotScheduled(gang, pod, waiting)],
      ['The group would fit only on reserved capacity', events.groupNotScheduled(gang, pod, behind)],
    ],
    statusDropped: [
      [
        'After another Event of the group, while the PodGroup CRD belongs to another project or an older version',
        events.statusDropped(events.groupNotScheduled(gang, pod, noCapacity)!, ['status.conditions']),
      ],
    ],
    groupReleased: [
      [
        'Tutti could not complete the group within its grace period',
        events.groupReleased(gang.spec!, [onNode, onNode]),
      ],
    ],
    released: [['Tutti could not complete the group of the pod', events.released(onNode, gang.key)]],
    groupStays: [
      [
        'Tutti could not complete the group within its grace period, and must not release it',
        events.groupStays(gang, pod, '2 of 3 required members stay bound: its repairPolicy is KeepTrying.'),
      ],
    ],
    memberLost: [
      [
        'The group lost a bound member, and with it its quorum',
        events.memberLost(
          gang,
          pod,
          'node node-1 rejected member train-0 (OutOfcpu): 1 of 3 required members is missing; capacity on node node-2 is reserved for its replacement for up to 60 s',
        ),
      ],
    ],
    membersStranded: [['Nodes of members are gone or not ready', events.membersStranded(gang, [onNode])]],
    preempted: [
      [
        'A pod or group of higher priority needs its capacity',
        events.preempted(onNode, 'Preempted by podgroup u on node node-1 (default/train, priority 1000; pod)'),
      ],
    ],
    groupPreempted: [
      [
        'The group makes way as a whole for a pod or group of higher priority',
        events.groupPreempted(gang, pod, 'Preempted by gang default/urgent (priority 1000) on 4 nodes'),
      ],
    ],
    ofPreemptor: [
      [
        'Pods of lower priority are evicted for the group',
        events.ofPreemptor(
          { kind: 'gang', gang },
          pod,
          'PreemptionStarted',
          'evicting 3 pods to place 3 members, until 12:03:20Z at the latest',
        ),
      ],
      [
        'They did not terminate in time',
        events.ofPreemptor(
          { kind: 'gang', gang },
          pod,
          'PreemptionExpired',
          'gave up after 90 s: pod default/old-0 is still terminating on node node-1',
        ),
      ],
      [
        'An entity of higher priority took the capacity',
        events.ofPreemptor(
          { kind: 'gang', gang },
          pod,
          'PreemptionDisplaced',
          'displaced by gang default/urgent (priority 2000)',
        ),
      ],
    ],
    podGroupDisagreement: [['The label and the annotation of the pod name different groups', disagreement]],
    foreignGroupKey: [
      [
        'The pod names its group by a key of another gang scheduler, or by a misspelled one',
        events.foreignGroupKey(pod, 'pod-group.scheduling.sigs.k8s.io'),
      ],
    ],
    invalidRuntime: [
      ['The annotation `tutti.dev/runtime` of the pod is not valid', events.invalidRuntime(pod, 'soon')],
    ],
  };
  const group = { namespace: 'default', name: 'train', uid: 'u' };
  const unlabeled = describeMislabeledWorkload({ kind: 'Job', name: 'train', group: 'train' });
  const ofController: readonly Sample[] = [
    ['Members are missing, because pods lack the label of the group', labelMissingEvent(group, unlabeled)],
    ['No pod has named the group for 10 s', membersAbsentEvent(group)],
  ];
  return [...Object.values(samples), ofController].flatMap((made) =>
    made.map(([when, event]) => {
      const { type, reason, action, note, regarding } = event!;
      return { about: regarding.kind, type, reason, action, when, note };
    }),
  );
}
