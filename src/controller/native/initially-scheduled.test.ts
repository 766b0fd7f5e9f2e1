import { expect, it } from 'vitest';
import type { NativePodGroup } from '../../api/native-pod-group.ts';
import { planAnnotations } from '../../api/pod.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { deriveInitiallyScheduled } from './initially-scheduled.ts';
import { projectMemberPod } from '../member-pod.ts';

const build = new Builders();
const gang = build.projectedNativePodGroup({ name: 'red', uid: 'red-uid', minCount: 2 });
const basic = build.projectedNativePodGroup({ name: 'red', uid: 'red-uid' });
const bound: PodOptions = { nodeName: 'a' };
const rejected = (reason: string, message = `text of ${reason}`): PodOptions => ({
  conditions: [{ type: 'PodScheduled', status: 'False', reason, message }],
});

function derive(group: NativePodGroup, pods: readonly PodOptions[], isBinding = true): string | undefined {
  const members = pods.map((options, index) =>
    projectMemberPod(
      build.pod({
        schedulingGroup: 'red',
        schedulerName: 'tutti',
        uid: `uid-${index}`,
        name: `red-${index}`,
        ...options,
      }),
    ),
  );
  const state = deriveInitiallyScheduled(group, members, new Set(['tutti', 'other-profile']), isBinding);
  return state && `${state.status} ${state.reason} ${state.message}`.trim();
}

const scheduled = 'True Scheduled';

it.each<readonly [string, NativePodGroup, readonly PodOptions[], string | undefined]>([
  ['the quorum of a gang is bound', gang, [bound, bound, {}], scheduled],
  ['one member is bound and another has succeeded', gang, [bound, { ...bound, phase: 'Succeeded' }], scheduled],
  ['the members are bound by two profiles', gang, [bound, { ...bound, schedulerName: 'other-profile' }], scheduled],
  ['one pod of a basic group is bound', basic, [{}, bound], scheduled],
  ['a pod of a basic group is in a gang by its label', basic, [{ ...bound, group: 'blue' }], scheduled],
  [
    'a labeled pod of a basic group was bound for its gang',
    basic,
    [{ ...bound, group: 'blue', annotations: { [planAnnotations.groupUid]: 'blue-uid' } }],
    scheduled,
  ],
  [
    'minCount has been raised since the quorum was bound',
    build.projectedNativePodGroup({ name: 'red', uid: 'red-uid', minCount: 5 }),
    [0, 1].map(() => ({
      ...bound,
      annotations: { [planAnnotations.groupUid]: 'red-uid', [planAnnotations.quorum]: '2' },
    })),
    scheduled,
  ],
  [
    'a member does not fit',
    gang,
    [rejected('Unschedulable', '0/3 nodes are available.'), rejected('SchedulerError', 'later')],
    'False Unschedulable 0/3 nodes are available.',
  ],
  ['the scheduler failed', gang, [rejected('SchedulerError', 'no'), {}], 'False SchedulerError no'],
  [
    'a bound member is not asked',
    gang,
    [{ ...bound, uid: 'a' }, rejected('Unschedulable', 'full')],
    'False Unschedulable full',
  ],
])('derives a condition if %s', (_, group, pods, expected) => {
  expect(derive(group, pods)).toBe(expected);
});

it.each<readonly [string, NativePodGroup, readonly PodOptions[]]>([
  ['there is no pod', gang, []],
  ['the members have no verdict', gang, [{}, {}]],
  ['the members wait for others', gang, [rejected('WaitingForGang')]],
  ['the members wait for their turn', gang, [rejected('WaitingForTurn'), rejected('WaitingForTurn')]],
  ['all members have scheduling gates', gang, [{ ...rejected('SchedulingGated'), gates: ['example.com/wait'] }]],
  ['too few members are bound, and more may follow', gang, [bound, {}]],
  ['the bound members are being deleted', gang, [bound, { ...bound, deleting: true }]],
  ['the bound members have failed', basic, [{ ...bound, phase: 'Failed' }]],
  ['a member succeeded because it had to leave its node', basic, [{ ...bound, phase: 'Succeeded', deleting: true }]],
  [
    'the members were bound for an earlier group of this name',
    gang,
    [0, 1].map(() => ({ ...bound, annotations: { [planAnnotations.groupUid]: 'older' } })),
  ],
  ['the members of a gang are in another one by their label', gang, [0, 1].map(() => ({ ...bound, group: 'blue' }))],
  ['one pod has another schedulerName', gang, [bound, bound, { ...bound, schedulerName: 'default-scheduler' }]],
  [
    'a finished pod has another schedulerName',
    gang,
    [bound, bound, { ...bound, phase: 'Failed', schedulerName: 'default-scheduler' }],
  ],
  [
    'a labeled pod has another schedulerName',
    gang,
    [bound, bound, { group: 'blue', schedulerName: 'default-scheduler' }],
  ],
])('derives nothing if %s', (_, group, pods) => {
  expect(derive(group, pods)).toBeUndefined();
});

it.each<readonly [string, readonly PodOptions[], string | undefined]>([
  ['have no verdict', [bound, {}], 'False Unschedulable 1 of the 2 pods that it needs are bound'],
  ['wait', [bound, rejected('WaitingForGang')], 'False Unschedulable 1 of the 2 pods that it needs are bound'],
  ['are gone', [bound], 'False Unschedulable 1 of the 2 pods that it needs are bound'],
  ['do not fit', [bound, rejected('Unschedulable', 'full')], 'False Unschedulable full'],
  ["are another scheduler's", [bound, { schedulerName: 'default-scheduler' }], undefined],
])('derives False for a gang that stays partially bound, if the others %s', (_, pods, expected) => {
  expect(derive(gang, pods, false)).toBe(expected);
});
