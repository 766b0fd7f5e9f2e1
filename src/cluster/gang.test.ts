import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import type { PodOptions } from '../testkit/builders/pod.ts';
import { planAnnotations } from '../api/pod.ts';
import { Gang } from './gang.ts';

const build = new Builders();

function gangOf(uid: string, minMember: number): Gang {
  const gang = new Gang('default/pair');
  const { key, creationTimestamp } = build.projectedPodGroup({ name: 'pair' });
  const rest = { minResources: undefined, scheduleTimeoutSeconds: undefined, started: false };
  gang.setSpec({ uid, key, creationTimestamp, minMember, ...rest });
  return gang;
}

function plannedFor(groupUid: string, options: PodOptions): PodOptions {
  return { group: 'pair', annotations: { [planAnnotations.groupUid]: groupUid }, ...options };
}

describe('a gang', () => {
  it('is neither started nor helped by pods that succeeded in a former group of its name', () => {
    const gang = gangOf('second', 2);
    const done = { nodeName: 'a', phase: 'Succeeded' } as const;
    for (const pod of build.projectedPods(2, plannedFor('first', done))) gang.setMember(pod, false);
    expect([gang.started, gang.counted, gang.missing]).toEqual([false, 0, 2]);
  });

  it("counts those that succeeded in its own plan, or in nobody's, once it has started", () => {
    const gang = gangOf('second', 2);
    gang.setMember(build.projectedPod(plannedFor('second', { nodeName: 'a', phase: 'Succeeded' })), false);
    expect([gang.started, gang.counted]).toEqual([false, 0]);
    const other = build.projectedPod({ group: 'pair', nodeName: 'a', phase: 'Succeeded' });
    gang.setMember(other, false);
    expect([gang.started, gang.counted, gang.missing]).toEqual([true, 2, 0]);
    gang.removeMember(other.uid);
    expect([gang.started, gang.counted, gang.missing]).toEqual([true, 1, 1]);
  });

  it('is incomplete when some members are on nodes or believed to be, and the quorum is not', () => {
    const gang = gangOf('only', 2);
    const [first, second] = build.projectedPods(2, { group: 'pair' });
    gang.setMember(first!, false);
    gang.setMember(second!, false);
    expect(gang.incomplete).toBe(false);
    gang.setMember(first!, true);
    expect(gang.incomplete).toBe(true);
    gang.setMember(second!, true);
    expect(gang.incomplete).toBe(false);
  });

  it('counts a member that is said to leave for a while no more, and has not been given up for started', () => {
    const gang = gangOf('only', 2);
    const [first, second] = build.projectedPods(2, { group: 'pair', nodeName: 'a' });
    for (const pod of [first!, second!]) gang.setMember(pod, false);
    gang.putInState(first!.uid, 'leaving');
    expect([gang.count('bound'), gang.count('leaving'), gang.counted, gang.missing]).toEqual([1, 1, 1, 1]);
    expect([gang.started, gang.members.size, gang.stateOf(first!.uid)]).toEqual([true, 2, 'leaving']);
    gang.putInState(first!.uid, 'bound');
    expect([gang.count('bound'), gang.count('leaving'), gang.counted, gang.missing]).toEqual([2, 0, 2, 0]);
  });

  it('is what the API says of its members, whatever state they were said to be in', () => {
    const gang = gangOf('only', 2);
    const [first] = build.projectedPods(1, { group: 'pair', nodeName: 'a' });
    gang.setMember(first!, false);
    gang.putInState(first!.uid, 'leaving');
    gang.setMember(first!, false);
    expect([gang.count('bound'), gang.count('leaving')]).toEqual([1, 0]);
    gang.putInState(first!.uid, 'leaving');
    gang.removeMember(first!.uid);
    expect([gang.count('bound'), gang.count('leaving')]).toEqual([0, 0]);
  });

  it('does not count whoever is no member', () => {
    const gang = gangOf('only', 2);
    gang.putInState('stranger', 'leaving');
    expect([gang.count('leaving'), gang.stateOf('stranger')]).toEqual([0, undefined]);
  });

  it('has its waiting members in the order that it is told to restore', () => {
    const gang = gangOf('only', 2);
    const members = ['ours', 'theirs', 'ours'].map((schedulerName) =>
      build.projectedPod({ group: 'pair', schedulerName }),
    );
    for (const pod of members) gang.setMember(pod, false);
    const { order } = gang;
    gang.setMember(members[0]!, true);
    gang.setMember(members[0]!, false);
    gang.setMember(members[1]!, true);
    gang.setMember(members[1]!, false);
    expect(gang.order.pending).toEqual([members[2]!, members[0]!, members[1]!].map(({ uid }) => uid));
    gang.restoreOrder(order);
    expect([...gang.pending.values()]).toEqual(members);
    expect([...gang.pendingBySchedulerName]).toEqual([
      ['ours', 2],
      ['theirs', 1],
    ]);
  });
});
