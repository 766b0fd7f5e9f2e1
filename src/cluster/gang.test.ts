import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import type { PodOptions } from '../testkit/builders/pod.ts';
import { planAnnotations } from '../api/pod.ts';
import type { Pod } from '../api/pod.ts';
import { Gang } from './gang.ts';

const build = new Builders();

function gangOf(uid: string, minMember: number): Gang {
  const gang = new Gang('default/pair');
  const { key, creationTimestamp } = build.projectedPodGroup({ name: 'pair' });
  const rest = {
    source: 'scheduling.x-k8s.io' as const,
    minResources: undefined,
    scheduleTimeoutSeconds: undefined,
    confirmsStart: true,
    releases: false,
    repairGraceMs: 60_000,
    startedSince: undefined,
    startsAnew: false,
  };
  gang.setSpec({ uid, key, creationTimestamp, minMember, ...rest });
  return gang;
}

function plannedFor(groupUid: string, options: PodOptions): PodOptions {
  return { group: 'pair', annotations: { [planAnnotations.groupUid]: groupUid }, ...options };
}

describe('a gang', () => {
  it('does not count pods that succeeded in a former group of the same name', () => {
    const gang = gangOf('second', 2);
    const done = { nodeName: 'a', phase: 'Succeeded' } as const;
    for (const pod of build.projectedPods(2, plannedFor('first', done))) gang.setMember(pod);
    expect([gang.started, gang.counted, gang.missing]).toEqual([false, 0, 2]);
  });

  it('does not count pods that run for a former group of the same name', () => {
    const gang = gangOf('second', 2);
    for (const pod of build.projectedPods(2, plannedFor('first', { nodeName: 'a' }))) gang.setMember(pod);
    expect([gang.started, gang.counted, gang.missing, gang.incomplete]).toEqual([false, 0, 2, false]);
    expect(gang.count('former')).toBe(2);
  });

  it('is started by members that met the quorum when they were bound, even if minMember grew since', () => {
    const boundFor = (groupUid: string, quorum: string): PodOptions =>
      plannedFor(groupUid, {
        nodeName: 'a',
        annotations: { [planAnnotations.groupUid]: groupUid, [planAnnotations.quorum]: quorum },
      });
    const startedBy = (...pods: PodOptions[]): boolean => {
      const gang = gangOf('first', 4);
      for (const pod of pods) gang.setMember(build.projectedPod(pod));
      return gang.started;
    };
    const ofTwo = boundFor('first', '2');
    expect(startedBy(ofTwo, ofTwo)).toBe(true);
    expect(startedBy(ofTwo, { ...ofTwo, phase: 'Succeeded' })).toBe(true);
    expect(startedBy(ofTwo, boundFor('first', '3'), boundFor('first', '3'))).toBe(false);
    expect(startedBy(ofTwo, { ...ofTwo, phase: 'Failed' })).toBe(false);
    expect(startedBy(ofTwo, boundFor('another', '2'))).toBe(false);
    expect(startedBy(boundFor('first', '0'), boundFor('first', 'x'))).toBe(false);
  });

  it('is not started by a bound member that has been deleted', () => {
    const gang = gangOf('first', 4);
    const annotations = { [planAnnotations.groupUid]: 'first', [planAnnotations.quorum]: '2' };
    const [one, other] = build.projectedPods(2, { group: 'pair', nodeName: 'a', annotations });
    gang.setMember(one!);
    gang.setMember(one!);
    gang.removeMember(one!.uid);
    gang.setMember(other!);
    expect(gang.started).toBe(false);
  });

  it('after being created again does not count members of its predecessor, but counts a pod bound without a group uid', () => {
    const gang = gangOf('first', 2);
    const runs = build.projectedPod(plannedFor('first', { nodeName: 'a' }));
    const [planned, foreign] = [
      build.projectedPod({ group: 'pair' }),
      build.projectedPod({ group: 'pair', nodeName: 'a' }),
    ];
    const done = build.projectedPod(plannedFor('first', { nodeName: 'a', phase: 'Succeeded' }));
    for (const pod of [runs, foreign, done]) gang.setMember(pod);
    gang.setMember(planned, { groupKey: 'default/pair', groupUid: 'first' });
    expect([gang.started, gang.counted]).toEqual([true, 4]);
    gang.setSpec({ ...gang.spec!, uid: 'second' });
    expect([gang.started, gang.counted, gang.count('former')]).toEqual([false, 1, 3]);
    expect([runs, planned, foreign, done].map(({ uid }) => gang.counts(uid))).toEqual([false, false, true, false]);
    gang.setMember(planned);
    expect([gang.stateOf(planned.uid), gang.counted]).toEqual(['pending', 1]);
  });

  it('counts succeeded members of its own plan, or of none, once it has started', () => {
    const gang = gangOf('second', 2);
    gang.setMember(build.projectedPod(plannedFor('second', { nodeName: 'a', phase: 'Succeeded' })));
    expect([gang.started, gang.counted, gang.counts([...gang.members.keys()][0]!)]).toEqual([false, 0, false]);
    const other = build.projectedPod({ group: 'pair', nodeName: 'a', phase: 'Succeeded' });
    gang.setMember(other);
    expect([gang.started, gang.counted, gang.missing]).toEqual([true, 2, 0]);
    gang.removeMember(other.uid);
    expect([gang.started, gang.counted, gang.missing]).toEqual([true, 1, 1]);
  });

  it('is incomplete if some members are bound or planned, but not the quorum', () => {
    const gang = gangOf('only', 2);
    const [first, second] = build.projectedPods(2, { group: 'pair' });
    gang.setMember(first!);
    gang.setMember(second!);
    expect(gang.incomplete).toBe(false);
    gang.setMember(first!, { groupKey: 'default/pair', groupUid: 'only' });
    expect(gang.incomplete).toBe(true);
    gang.setMember(second!, { groupKey: 'default/pair', groupUid: 'only' });
    expect(gang.incomplete).toBe(false);
  });

  it('does not count a member put in the state leaving, and stays started', () => {
    const gang = gangOf('only', 2);
    const [first, second] = build.projectedPods(2, { group: 'pair', nodeName: 'a' });
    for (const pod of [first!, second!]) gang.setMember(pod);
    gang.putInState(first!.uid, 'leaving');
    expect([gang.count('bound'), gang.count('leaving'), gang.counted, gang.missing]).toEqual([1, 1, 1, 1]);
    expect([gang.started, gang.members.size, gang.stateOf(first!.uid)]).toEqual([true, 2, 'leaving']);
    gang.putInState(first!.uid, 'bound');
    expect([gang.count('bound'), gang.count('leaving'), gang.counted, gang.missing]).toEqual([2, 0, 2, 0]);
  });

  it('takes the state of members from updates, whatever state they were put in', () => {
    const gang = gangOf('only', 2);
    const [first] = build.projectedPods(1, { group: 'pair', nodeName: 'a' });
    gang.setMember(first!);
    gang.putInState(first!.uid, 'leaving');
    gang.setMember(first!);
    expect([gang.count('bound'), gang.count('leaving')]).toEqual([1, 0]);
    gang.putInState(first!.uid, 'leaving');
    gang.removeMember(first!.uid);
    expect([gang.count('bound'), gang.count('leaving')]).toEqual([0, 0]);
  });

  it('does not count pods that are not members', () => {
    const gang = gangOf('only', 2);
    gang.putInState('stranger', 'leaving');
    expect([gang.count('leaving'), gang.stateOf('stranger')]).toEqual([0, undefined]);
  });

  describe('whose members are all gone', () => {
    const since = '2026-01-01T00:00:00Z';
    const named = (names: readonly string[], options: PodOptions = {}): Pod[] =>
      names.map((name) => build.projectedPod({ name, uid: name, group: 'pair', nodeName: 'a', ...options }));

    function endedGang(started?: string): Gang {
      const gang = gangOf('only', 2);
      for (const pod of named(['a', 'b'])) gang.setMember(pod);
      gang.setSpec({ ...gang.spec!, startedSince: started });
      for (const pod of named(['a', 'b'], { deleting: true })) gang.setMember(pod);
      return gang;
    }

    it('starts over: its life goes on until the last bound, stranded or succeeded member has to leave', () => {
      const gang = gangOf('only', 2);
      const [a, b, c] = named(['a', 'b', 'c']);
      for (const pod of [a!, b!]) gang.setMember(pod);
      gang.setMember(c!, undefined, true);
      gang.setMember({ ...a!, phase: 'Succeeded' });
      gang.setMember({ ...b!, deleting: true });
      expect(gang.started).toBe(true);
      gang.removeMember('a');
      expect([gang.started, gang.startsAnew]).toEqual([true, false]);
      gang.setMember({ ...c!, deleting: true }, undefined, true);
      expect([gang.started, gang.startsAnew, gang.counted, gang.missing]).toEqual([false, true, 0, 2]);
      gang.setMember({ ...c!, deleting: true, phase: 'Succeeded' });
      expect([gang.started, gang.count('succeeded')]).toEqual([false, 0]);
    });

    it('goes on with a member that had succeeded before the mark of a preemption was written', () => {
      const gang = gangOf('only', 2);
      const [a, b] = named(['a', 'b']);
      for (const pod of [a!, b!]) gang.setMember(pod);
      gang.removeMember('b');
      gang.setMember({ ...a!, phase: 'Succeeded' });
      gang.setMember({ ...a!, phase: 'Succeeded', disruptedBy: 'PreemptionByScheduler' });
      gang.setMember({ ...b!, uid: 'c' });
      expect([gang.started, gang.counted, gang.missing]).toEqual([true, 2, 0]);
    });

    it('is gated by its quorum again, and partially bound below it, although the condition is late', () => {
      const gang = endedGang(since);
      expect(gang.started).toBe(false);
      gang.setMember(named(['c'])[0]!);
      expect([gang.started, gang.incomplete]).toEqual([false, true]);
      gang.setSpec({ ...gang.spec!, startedSince: undefined, startsAnew: true });
      expect([gang.started, gang.startsAnew]).toEqual([false, true]);
      gang.setMember(named(['d'])[0]!);
      expect([gang.started, gang.startsAnew]).toEqual([true, false]);
    });

    it('takes a later condition for the start of the next life', () => {
      const gang = endedGang(since);
      gang.setMember(named(['c'])[0]!);
      gang.setSpec({ ...gang.spec!, startedSince: '2026-01-01T00:10:00Z' });
      expect(gang.started).toBe(true);
    });

    it('starts over under a new leader, which only has the condition', () => {
      const gang = gangOf('only', 2);
      gang.setSpec({ ...gang.spec!, startedSince: since });
      for (const pod of named(['a', 'b'], { deleting: true })) gang.setMember(pod);
      gang.allListed();
      gang.setMember(named(['c'])[0]!);
      expect([gang.started, gang.startsAnew]).toEqual([false, true]);
    });

    it('has started under a new leader if the condition says so and a member is left', () => {
      const gang = gangOf('only', 2);
      gang.setSpec({ ...gang.spec!, startedSince: since });
      gang.setMember(named(['a'])[0]!);
      gang.allListed();
      expect(gang.started).toBe(true);
    });

    /** A started gang of which a list replaces both members by others; one of those was bound when the watch showed nothing. */
    function relistedGang(startedSince?: string): Gang {
      const gang = gangOf('only', 2);
      for (const pod of named(['a', 'b'])) gang.setMember(pod);
      gang.setMember(named(['c'], { nodeName: '' })[0]!);
      gang.setSpec({ ...gang.spec!, startedSince });
      gang.membersBeingListed();
      for (const uid of ['a', 'b']) gang.removeMember(uid);
      expect(gang.started).toBe(true);
      gang.setMember(named(['c'])[0]!);
      return gang;
    }

    it('goes on after a list if the condition says that others have kept its life going', () => {
      const gang = relistedGang(since);
      expect([gang.membersListed(), gang.started]).toEqual([false, true]);
      gang.setMember(named(['c'], { deleting: true })[0]!);
      expect([gang.started, gang.startsAnew]).toEqual([false, true]);
    });

    it('starts over after a list if nothing says that its life went on', () => {
      const gang = relistedGang();
      expect([gang.membersListed(), gang.started, gang.startsAnew]).toEqual([true, false, true]);
    });

    it('starts over after a list if no member is left, whatever the condition says', () => {
      const gang = relistedGang(since);
      gang.removeMember('c');
      expect([gang.membersListed(), gang.started, gang.startsAnew]).toEqual([true, false, true]);
    });

    it('starts over after a list if the condition stays True and no member was bound by then', () => {
      const bound = (uid: string, transition: string): Pod => {
        const type = { type: 'PodScheduled', status: 'True', lastTransitionTime: transition } as const;
        return build.projectedPod({ uid, group: 'pair', nodeName: 'a', conditions: [type] });
      };
      for (const [transition, goesOn] of [
        [since, true],
        ['2026-02-01T00:00:00Z', false],
      ] as const) {
        const gang = gangOf('only', 2);
        gang.setSpec({ ...gang.spec!, startedSince: since, startIsSticky: true });
        for (const uid of ['a', 'b']) gang.setMember(bound(uid, since));
        gang.membersBeingListed();
        for (const uid of ['a', 'b']) gang.removeMember(uid);
        gang.setMember(bound('c', transition));
        gang.membersListed();
        expect(gang.started).toBe(goesOn);
      }
    });

    it('is not started by old and new members of which a list shows only the new ones', () => {
      const gang = gangOf('only', 2);
      gang.setMember(named(['a'])[0]!);
      gang.membersBeingListed();
      gang.setMember(named(['b'])[0]!);
      gang.removeMember('a');
      expect([gang.started, gang.membersListed(), gang.started]).toEqual([true, true, false]);
      expect(gang.startsAnew).toBe(false);
    });

    it('starts over if the condition no longer says that others have kept its life going', () => {
      const gang = relistedGang(since);
      gang.membersListed();
      gang.setSpec({ ...gang.spec!, startedSince: undefined, startsAnew: true });
      expect([gang.started, gang.startsAnew]).toEqual([false, true]);
    });

    it('goes on if the condition is withdrawn after its quorum was bound', () => {
      const gang = relistedGang(since);
      gang.membersListed();
      gang.setMember(named(['d'])[0]!);
      gang.setSpec({ ...gang.spec!, startedSince: undefined });
      expect(gang.started).toBe(true);
    });

    it('starts over after a list if the condition is that of an earlier life', () => {
      const gang = endedGang(since);
      for (const pod of named(['c', 'd'])) gang.setMember(pod);
      expect(gang.started).toBe(true);
      gang.membersBeingListed();
      for (const uid of ['c', 'd']) gang.removeMember(uid);
      gang.setMember(named(['e'])[0]!);
      expect([gang.membersListed(), gang.started, gang.startsAnew]).toEqual([true, false, true]);
    });

    it('is judged by the complete list if the scheduler takes over in the middle of it', () => {
      const gang = gangOf('only', 3);
      gang.setSpec({ ...gang.spec!, startedSince: since });
      for (const pod of named(['a', 'b', 'c'])) gang.setMember(pod);
      gang.membersBeingListed();
      for (const uid of ['a', 'b', 'c']) gang.removeMember(uid);
      gang.allListed();
      gang.setMember(named(['d'])[0]!);
      expect([gang.membersListed(), gang.started]).toEqual([false, true]);
    });

    it('is no successor of a group that was replaced in the middle of a list', () => {
      const gang = relistedGang(since);
      gang.setSpec({ ...gang.spec!, uid: 'second', startedSince: undefined });
      expect([gang.membersListed(), gang.started, gang.startsAnew]).toEqual([false, false, false]);
    });

    it('is another one than a gang that a dry run has taken out', () => {
      const gang = gangOf('only', 2);
      for (const pod of named(['a', 'b'])) gang.setMember(pod);
      for (const uid of ['a', 'b']) gang.putInState(uid, 'leaving');
      const [waits] = named(['c'], { nodeName: '' });
      gang.setMember(waits!);
      gang.setMember(waits!, { groupKey: 'default/pair', groupUid: 'only' });
      gang.setMember(waits!);
      expect(gang.started).toBe(true);
    });
  });

  it('restores the order of its pending members', () => {
    const gang = gangOf('only', 2);
    const members = ['ours', 'theirs', 'ours'].map((schedulerName) =>
      build.projectedPod({ group: 'pair', schedulerName }),
    );
    for (const pod of members) gang.setMember(pod);
    const { order } = gang;
    gang.setMember(members[0]!, { groupKey: 'default/pair', groupUid: 'only' });
    gang.setMember(members[0]!);
    gang.setMember(members[1]!, { groupKey: 'default/pair', groupUid: 'only' });
    gang.setMember(members[1]!);
    expect(gang.order.pending).toEqual([members[2]!, members[0]!, members[1]!].map(({ uid }) => uid));
    gang.restoreOrder(order);
    expect([...gang.pending.values()]).toEqual(members);
    expect([...gang.pendingBySchedulerName]).toEqual([
      ['ours', 2],
      ['theirs', 1],
    ]);
  });
});
