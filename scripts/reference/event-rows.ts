import type { Verdict } from '../../src/api/verdict.ts';
import type { EventToRecord } from '../../src/client/event-recorder.ts';
import * as events from '../../src/scheduler/verdicts/events.ts';
import { defaultPlugins } from '../../src/plugins/registry.ts';
import { CoreHarness } from '../../src/testkit/core-harness.ts';

export interface EventRow {
  readonly about: string;
  readonly type: string;
  readonly reason: string;
  readonly action: string;
  readonly when: string;
  /** What such an Event says. */
  readonly note: string;
}

type Sample = readonly [when: string, event: EventToRecord | undefined];

/** Every Event that the scheduler makes, made once of each kind. */
export function eventRows(): readonly EventRow[] {
  const picture = new CoreHarness({ plugins: defaultPlugins });
  const gang = picture.group({ name: 'train', uid: 'u', minMember: 3 });
  const pod = picture.pod({ name: 'train-0', uid: 'p', group: 'train', schedulerName: 'tutti' });
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
      'PodGroup default/train cannot start: with 2 of 3 members placed, train-2 finds no node: 0/2 nodes are available: 2 Insufficient cpu.',
  };
  const disagreement = events.podGroupDisagreement(pod, { label: 'train', annotation: 'test' });
  /** function that makes Events -> those that it makes; a function that is missing here does not compile */
  const samples: Readonly<Record<keyof typeof events, readonly Sample[]>> = {
    scheduled: [['it is bound', events.scheduled(pod, 'node-1')]],
    notScheduled: [
      ['its verdict is new, or it could not be bound', events.notScheduled(pod, noCapacity)],
      ['its group cannot be tried yet', events.notScheduled(pod, waiting)],
    ],
    groupScheduled: [['all that a plan placed is bound', events.groupScheduled(gang, [pod, pod, pod], 2)]],
    groupNotScheduled: [
      ['its verdict is new, or a member could not be bound', events.groupNotScheduled(gang, pod, noCapacity)],
      ['it cannot be tried yet', events.groupNotScheduled(gang, pod, waiting)],
    ],
    statusDropped: [
      [
        'after any other, while the definition of PodGroup is another’s',
        events.statusDropped(events.groupNotScheduled(gang, pod, noCapacity)!, ['status.conditions']),
      ],
    ],
    groupReleased: [['it could not be completed within its grace', events.groupReleased(gang.spec!, [onNode, onNode])]],
    released: [['its group could not be completed', events.released(onNode, gang.key)]],
    groupStays: [
      [
        'it could not be completed within its grace, and may not be released',
        events.groupStays(gang, pod, '2 of 3 required members stay bound: its repairPolicy is KeepTrying.'),
      ],
    ],
    memberLost: [
      [
        'a member is gone from its node, and the quorum with it',
        events.memberLost(
          gang,
          pod,
          'node node-1 rejected member train-0 (OutOfcpu): 1 of 3 required members is missing; capacity on node node-2 is reserved for its replacement for up to 60 s',
        ),
      ],
    ],
    membersStranded: [['nodes of its members are gone or not ready', events.membersStranded(gang, [onNode])]],
    preempted: [['it makes room', events.preempted(onNode, 'default/train')]],
    podGroupDisagreement: [['its label and its annotation name different groups', disagreement]],
  };
  return Object.values(samples).flatMap((made) =>
    made.map(([when, event]) => {
      const { type, reason, action, note, regarding } = event!;
      return { about: regarding.kind, type, reason, action, when, note };
    }),
  );
}
