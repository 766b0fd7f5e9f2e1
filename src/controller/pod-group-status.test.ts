import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Condition } from '../api/condition.ts';
import { podGroupPhases } from '../api/pod-group.ts';
import type { PodGroupStatus } from '../api/pod-group.ts';
import { podGroupDefinition } from '../api/pod-group-schema.ts';
import type { MemberPod } from './member-pod.ts';
import { derivePodGroupStatus } from './pod-group-status.ts';
import type { DerivedStatus } from './pod-group-status.ts';
import { statusPatch } from './status-patch.ts';
import { creation, memberPod, memberPods, podGroup } from './testing/objects.ts';
import type { TestMember } from './testing/objects.ts';

const now = creation + 60_000;

function derive(minMember: number, members: readonly MemberPod[], status?: PodGroupStatus, at = now): DerivedStatus {
  return derivePodGroupStatus(podGroup({ minMember, ...(status && { status }) }), members, at);
}

function counters({ phase, running, succeeded, failed }: DerivedStatus): string {
  return `${phase} ${running}/${succeeded}/${failed}`;
}

function conditionOf(status: DerivedStatus, type: string): Condition {
  return status.conditions.find((condition) => condition.type === type)!;
}

const pending = (count: number, options: TestMember = {}): MemberPod[] =>
  memberPods(count, { phase: 'Pending', ...options });
const running = (count: number, options: TestMember = {}): MemberPod[] =>
  memberPods(count, { phase: 'Running', ...options });
const succeeded = (count: number): MemberPod[] => memberPods(count, { phase: 'Succeeded' });
const failed = (count: number): MemberPod[] => memberPods(count, { phase: 'Failed' });

describe('the phase of a PodGroup', () => {
  it('C1 is Running when two of two run', () => {
    expect(counters(derive(2, running(2), { phase: 'Scheduling' }))).toBe('Running 2/0/0');
  });

  it('C2 is Running when four run and two are needed', () => {
    expect(counters(derive(2, running(4), { phase: 'Scheduling' }))).toBe('Running 4/0/0');
  });

  it('C3 is Failed when two of two failed', () => {
    expect(counters(derive(2, failed(2), { phase: 'Scheduling' }))).toBe('Failed 0/0/2');
  });

  it('C4 is Finished when two of two succeeded', () => {
    expect(counters(derive(2, succeeded(2), { phase: 'Scheduling' }))).toBe('Finished 0/2/0');
  });

  it('C5 is Scheduling with two pending pods of two', () => {
    expect(counters(derive(2, pending(2), { phase: 'Pending' }))).toBe('Scheduling 0/0/0');
  });

  it('C6 goes from Scheduling to Finished when two pending pods succeed', () => {
    const before = derive(2, pending(2), { phase: 'Scheduling' });
    expect(counters(before)).toBe('Scheduling 0/0/0');
    expect(counters(derive(2, [...pending(1), ...succeeded(1)], before))).toBe('Scheduling 0/1/0');
    expect(counters(derive(2, succeeded(2), before))).toBe('Finished 0/2/0');
  });

  it('C7 is Pending when two run and three are needed', () => {
    expect(counters(derive(3, running(2), { phase: 'Pending' }))).toBe('Pending 2/0/0');
  });

  it('C8 goes from Pending through Scheduling to Finished when two members succeed', () => {
    const first = derive(2, pending(2), { phase: 'Pending' });
    expect(first.phase).toBe('Scheduling');
    expect(counters(derive(2, succeeded(2), first))).toBe('Finished 0/2/0');
  });

  // The older controller ignores a group that has not started for 48 hours, and then reports Pending while its pods run. This
  // controller always follows the pods; the Scheduled condition shows since when a group waits.
  it('C9 is Running when two of two run in a group created three days ago', () => {
    const createdAt = now - 72 * 3_600_000;
    const status = { phase: 'Pending', scheduleStartTime: new Date(now).toISOString() };
    const derived = derivePodGroupStatus(podGroup({ minMember: 2, createdAt, status }), running(2), now);
    expect(counters(derived)).toBe('Running 2/0/0');
  });

  it('C10 is Pending with two pending pods of three', () => {
    expect(counters(derive(3, pending(2), { phase: 'Pending' }))).toBe('Pending 0/0/0');
  });

  it('C11 is Pending when a group that ran has two pending pods of four left', () => {
    expect(counters(derive(4, pending(2), { phase: 'Running' }))).toBe('Pending 0/0/0');
  });

  it.each<[string, number, MemberPod[], string]>([
    ['three run', 3, running(3), 'Running 3/0/0'],
    ['two run, one succeeded', 3, [...running(2), ...succeeded(1)], 'Running 2/1/0'],
    ['three succeeded', 3, succeeded(3), 'Finished 0/3/0'],
    ['three succeeded, a fourth failed', 3, [...succeeded(3), ...failed(1)], 'Finished 0/3/1'],
    ['two of three run, the third failed without a replacement', 3, [...running(2), ...failed(1)], 'Failed 2/0/1'],
    ['one runs, one is pending', 2, [...running(1), ...pending(1)], 'Scheduling 1/0/0'],
    ['no pod exists', 1, [], 'Pending 0/0/0'],
  ])('follows the counts when %s', (_name, minMember, members, expected) => {
    expect(counters(derive(minMember, members))).toBe(expected);
  });

  // The older controller reports Failed for the next two: any failed pod was enough.
  it('is Running while the quorum runs, even if an additional member failed', () => {
    expect(counters(derive(3, [...running(3), ...failed(1)]))).toBe('Running 3/0/1');
  });

  it('is Scheduling while a replacement for a failed member is pending', () => {
    expect(counters(derive(3, [...running(2), ...failed(1), ...pending(1)]))).toBe('Scheduling 2/0/1');
  });

  it('recovers from Failed when a replacement runs', () => {
    const lost = derive(3, [...running(2), ...failed(1)]);
    expect(lost.phase).toBe('Failed');
    expect(counters(derive(3, [...running(3), ...failed(1)], lost))).toBe('Running 3/0/1');
  });

  it('does not count gated or terminating members as usable', () => {
    expect(derive(2, [...pending(1), ...pending(1, { uid: 'gated', gated: true })]).phase).toBe('Pending');
    expect(counters(derive(2, [...running(1), ...running(1, { uid: 'terminating', deleting: true })]))).toBe(
      'Pending 2/0/0',
    );
  });

  it.each<[string, MemberPod[]]>([
    ['Finished', succeeded(2)],
    ['Failed', failed(2)],
  ])('keeps %s and its counts after pod cleanup, until new members arrive', (phase, members) => {
    const final = derive(2, members);
    expect(final.phase).toBe(phase);
    const cleanedUp = derive(2, [], final);
    expect(cleanedUp).toMatchObject({ phase, succeeded: final.succeeded, failed: final.failed, members: 0 });
    expect(derive(2, members.slice(1), cleanedUp)).toMatchObject({
      phase,
      succeeded: final.succeeded,
      failed: final.failed,
    });
    expect(counters(derive(2, pending(2), cleanedUp))).toBe('Scheduling 0/0/0');
    expect(counters(derive(2, running(2), cleanedUp))).toBe('Running 2/0/0');
  });

  it('replaces a status that another controller wrote', () => {
    const foreign = { phase: 'PreScheduling', conditions: 'none' } as unknown as PodGroupStatus;
    expect(derive(2, running(2), foreign).phase).toBe('Running');
  });
});

describe('occupiedBy', () => {
  const owned = (uid: string, ...owners: string[]): MemberPod => memberPod({ uid, owners });

  it('O1 names the owner of the members once enough exist', () => {
    const members = [owned('a', 'new-occupied'), owned('b', 'new-occupied')];
    expect(derive(2, members, { phase: 'Pending' }).occupiedBy).toBe('default/new-occupied');
    expect(derive(3, members, { phase: 'Pending' }).occupiedBy).toBe('');
  });

  it('O2 names both owners of a member, sorted and joined by a comma', () => {
    const members = ['a', 'b'].map((uid) => owned(uid, 'new-occupied-2', 'new-occupied-1'));
    expect(derive(2, members, { phase: 'Pending' }).occupiedBy).toBe('default/new-occupied-1,default/new-occupied-2');
  });

  it('is empty when no member has an owner', () => {
    expect(derive(2, pending(2), { phase: 'Pending' }).occupiedBy).toBe('');
  });

  it('keeps the same owner for any order of the pods, and changes when that owner has no members left', () => {
    const [first, second] = [owned('a', 'job-1'), owned('b', 'job-2')];
    const status = derive(2, [second, first]);
    expect(status.occupiedBy).toBe('default/job-1');
    expect(derive(2, [second, owned('c', 'job-1')], status).occupiedBy).toBe('default/job-1');
    expect(derive(2, [second, owned('c', 'job-3')], status).occupiedBy).toBe('default/job-2');
    expect(derive(2, [], status).occupiedBy).toBe('default/job-1');
  });
});

describe('the counters', () => {
  it('count bound members as scheduled, and succeeded ones once the group has started', () => {
    const bound = pending(2, { uid: 'bound', nodeName: 'node-a' });
    expect(derive(4, [...bound, ...pending(1), ...succeeded(1)])).toMatchObject({ members: 4, scheduled: 2, ready: 0 });
    expect(derive(3, [...bound, ...pending(1), ...succeeded(1)])).toMatchObject({ members: 4, scheduled: 3 });
  });

  it('count running members that are ready', () => {
    expect(derive(3, [...running(2, { uid: 'r', ready: true }), ...running(1)])).toMatchObject({
      running: 3,
      ready: 2,
    });
  });

  it('count no failed or terminating member as scheduled', () => {
    expect(derive(3, [...running(1), ...failed(1), ...running(1, { uid: 'l', deleting: true })]).scheduled).toBe(1);
  });
});

describe('the Scheduled condition', () => {
  const verdict = (message: string, reason = 'Unschedulable'): TestMember['verdict'] => ({ reason, message });

  it('is True when the quorum is scheduled', () => {
    expect(conditionOf(derive(2, running(2)), 'Scheduled')).toEqual({
      type: 'Scheduled',
      status: 'True',
      reason: 'QuorumScheduled',
      message: '2 members are scheduled, 2 are needed',
      lastTransitionTime: '2026-01-01T00:01:00Z',
      observedGeneration: 1,
    });
  });

  it('copies the verdict of the unbound member with the lowest uid', () => {
    const members = [
      memberPod({ uid: 'c', verdict: verdict('of c') }),
      memberPod({ uid: 'b', verdict: verdict('of b') }),
      memberPod({ uid: 'a', nodeName: 'node-a', verdict: verdict('of a, stale') }),
      memberPod({ uid: '0', deleting: true, verdict: verdict('of a terminating member') }),
    ];
    expect(conditionOf(derive(3, members), 'Scheduled')).toMatchObject({
      status: 'False',
      reason: 'Unschedulable',
      message: 'of b',
    });
  });

  it('prefers a member that may be scheduled to a gated one', () => {
    const gated = memberPod({ uid: 'a', gated: true, verdict: verdict('gated', 'SchedulingGated') });
    const ungated = memberPod({ uid: 'b', verdict: verdict('1 of 2 members exist', 'WaitingForGang') });
    expect(conditionOf(derive(2, [gated, ungated]), 'Scheduled').reason).toBe('WaitingForGang');
    expect(conditionOf(derive(2, [gated]), 'Scheduled').reason).toBe('SchedulingGated');
  });

  it('explains the missing members while there is no verdict', () => {
    expect(conditionOf(derive(3, pending(1)), 'Scheduled')).toMatchObject({
      reason: 'WaitingForGang',
      message: '1 member is able to run, 3 are needed',
    });
    expect(conditionOf(derive(1, pending(1)), 'Scheduled').reason).toBe('WaitingForScheduler');
  });

  it('replaces a reason of another scheduler that is not valid', () => {
    const odd = memberPod({ verdict: verdict('x'.repeat(40_000), 'not a reason!') });
    const condition = conditionOf(derive(1, [odd]), 'Scheduled');
    expect(condition.reason).toBe('UnknownReason');
    expect(condition.message).toHaveLength(1_024);
  });
});

describe('the predicted start', () => {
  const early = '2026-01-01T12:00:00Z';
  const late = '2026-01-01T13:00:00Z';
  const startOf = ({ predictedStartTime, startConfidence }: DerivedStatus): unknown => [
    predictedStartTime,
    startConfidence,
  ];
  const none = [undefined, undefined];

  it('is that of the unbound member with the lowest uid', () => {
    const members = [
      memberPod({ uid: 'c', start: ['Declared', early] }),
      memberPod({ uid: 'b', start: ['Estimated', late] }),
      memberPod({ uid: 'a', nodeName: 'node-a', start: ['Declared', early] }),
    ];
    expect(startOf(derive(3, members))).toEqual([late, 'Estimated']);
    expect(startOf(derive(3, [...members, memberPod({ uid: '0' })]))).toEqual(none);
  });

  it('has no time while members drain nodes', () => {
    expect(startOf(derive(1, [memberPod({ start: ['Draining', ''] })]))).toEqual([undefined, 'Draining']);
  });

  it('is absent once the group has its quorum, although further members wait', () => {
    const members = [memberPod({ uid: 'b', nodeName: 'node-a' }), memberPod({ uid: 'a', start: ['Declared', early] })];
    expect(startOf(derive(2, members))).toEqual([early, 'Declared']);
    expect(startOf(derive(1, members))).toEqual(none);
  });

  it.each([
    ['Declared', 'tomorrow'],
    ['Declared', ''],
    ['Certain', early],
    ['Declared', `${early}${'x'.repeat(200_000)}`],
  ])('ignores a condition with the reason %s and the message %.20s', (confidence, time) => {
    expect(startOf(derive(1, [memberPod({ start: [confidence, time] })]))).toEqual(none);
  });
});

describe('the Started and Ready conditions', () => {
  it('keep Started True when the quorum is lost again', () => {
    const started = derive(2, running(2));
    expect(conditionOf(started, 'Started')).toMatchObject({ status: 'True', reason: 'QuorumReached' });
    const lost = derive(2, running(1), started, now + 60_000);
    expect(conditionOf(lost, 'Started')).toEqual(conditionOf(started, 'Started'));
    expect(conditionOf(lost, 'Scheduled')).toMatchObject({
      status: 'False',
      lastTransitionTime: '2026-01-01T00:02:00Z',
    });
  });

  it('end Started with its reason when no member is bound or has succeeded, until the quorum is bound again', () => {
    const startedOf = (status: DerivedStatus): string => {
      const { status: value, reason } = conditionOf(status, 'Started');
      return `${value} ${reason}`;
    };
    const first = derive(2, running(2));
    const evicted = { deleting: true, disruptedBy: 'PreemptionByScheduler' };
    const preempted = derive(2, [...running(2, evicted), ...pending(2)], first);
    expect(conditionOf(preempted, 'Started')).toMatchObject({
      status: 'False',
      reason: 'Preempted',
      message: 'the group starts over: 0 members are scheduled, 2 are needed',
    });
    expect(startedOf(derive(2, [...running(1, evicted), ...running(1)], first))).toBe('True QuorumReached');
    expect(startedOf(derive(2, running(2, { ...evicted, phase: 'Succeeded' }), first))).toBe('False Preempted');
    expect(startedOf(derive(2, pending(2), first))).toBe('False Ended');
    expect(startedOf(derive(2, [...succeeded(1), ...pending(1)], first))).toBe('True QuorumReached');
    const partly = derive(2, [...running(1), ...pending(1)], preempted);
    expect(startedOf(partly)).toBe('False Preempted');
    expect(startedOf(derive(2, running(2), partly))).toBe('True QuorumReached');
  });

  it('set Started when the bound members were the quorum at their binding, even if minMember was raised since', () => {
    const bound = (uid: string, more: TestMember = {}): MemberPod =>
      memberPod({ uid, nodeName: 'a', plannedQuorum: 2, ...more });
    const startedBy = (...members: MemberPod[]): string => conditionOf(derive(4, members), 'Started').status;
    expect(startedBy(bound('a'), bound('b'))).toBe('True');
    expect(startedBy(bound('a'), bound('b', { phase: 'Succeeded' }))).toBe('True');
    expect(startedBy(bound('a'), bound('b', { plannedQuorum: 3 }))).toBe('False');
    expect(startedBy(bound('a'), bound('b', { phase: 'Failed' }))).toBe('False');
    expect(startedBy(bound('a'), bound('b', { deleting: true }))).toBe('False');
  });

  it('do not set Started for part of the quorum, nor for failed members, which a node may have rejected', () => {
    expect(conditionOf(derive(3, [...running(2), ...pending(1), ...failed(1)]), 'Started')).toMatchObject({
      status: 'False',
      reason: 'QuorumNotReached',
      message: '2 members are scheduled, 3 are needed',
    });
  });

  it('set Ready while the quorum is ready, until the group has finished', () => {
    expect(conditionOf(derive(2, running(2, { ready: true })), 'Ready')).toMatchObject({
      status: 'True',
      reason: 'QuorumReady',
    });
    expect(conditionOf(derive(2, running(2)), 'Ready')).toMatchObject({ status: 'False', reason: 'QuorumNotReady' });
    expect(conditionOf(derive(2, succeeded(2)), 'Ready')).toMatchObject({ status: 'False', reason: 'GroupFinished' });
  });

  it('leave the conditions of other controllers unchanged', () => {
    const foreign: Condition = {
      type: 'Admitted',
      status: 'True',
      reason: 'Quota',
      message: '',
      lastTransitionTime: 'then',
    };
    expect(derive(2, running(2), { conditions: [foreign] }).conditions.at(-1)).toBe(foreign);
  });
});

describe('arbitrary members', () => {
  const anyMember = fc.record({
    phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'),
    deleting: fc.boolean(),
    gated: fc.boolean(),
    ready: fc.boolean(),
    nodeName: fc.constantFrom('', 'node-a'),
    owners: fc.subarray(['job-1', 'job-2']),
    start: fc.constantFrom(
      ['Declared', '2026-01-01T12:00:00Z'],
      ['Draining', ''],
      ['Declared', '+010000-01-01T00:00:00Z'],
    ),
  });
  const anyMembers = fc
    .array(anyMember, { maxLength: 6 })
    .map((all) => all.map((options, index) => memberPod({ ...options, uid: String(index) })));
  const minMember = fc.integer({ min: 1, max: 5 });

  it('yield a status that the API server accepts, and nothing to write the next time', () => {
    const schema = podGroupDefinition.spec.versions[0].schema.openAPIV3Schema;
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    fc.assert(
      fc.property(minMember, anyMembers, anyMembers, (quorum, first, second) => {
        const once = derive(quorum, first);
        const twice = derive(quorum, second, once);
        expect(podGroupPhases).toContain(twice.phase);
        expect(validate({ spec: { minMember: quorum }, status: twice })).toBe(true);
        expect(twice.predictedStartTime ?? '2026-01-01T12:00:00Z').toBe('2026-01-01T12:00:00Z');
        expect(statusPatch(twice, derive(quorum, second, twice, now + 3_600_000))).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  it('yield the same status in any order', () => {
    fc.assert(
      fc.property(minMember, anyMembers, (quorum, members) => {
        expect(derive(quorum, members.toReversed())).toEqual(derive(quorum, members));
      }),
    );
  });
});

describe('the Incomplete condition', () => {
  const incomplete = (minMember: number, members: readonly MemberPod[], status?: PodGroupStatus): string => {
    const { status: value, reason, message } = conditionOf(derive(minMember, members, status), 'Incomplete');
    return `${value} ${reason}: ${message}`;
  };
  const hasStarted = derive(3, running(3));

  it('is False when no member is scheduled, and when all are', () => {
    expect(incomplete(3, pending(3))).toBe('False NotScheduled: 0 members are scheduled, 3 are needed');
    expect(incomplete(3, running(3))).toBe('False QuorumScheduled: 3 members are scheduled, 3 are needed');
    expect(incomplete(3, [...running(1), ...succeeded(2)])).toMatch(/^False QuorumScheduled/);
    expect(incomplete(3, succeeded(3))).toMatch(/^False GroupFinished/);
  });

  it('is True when too few members are scheduled, before and after the start', () => {
    const some = [...running(2), ...pending(1)];
    expect(incomplete(3, some)).toBe('True PartlyScheduled: 2 members are scheduled, 3 are needed');
    expect(incomplete(3, some, hasStarted)).toBe('True MemberLost: 2 members are scheduled, 3 are needed');
  });

  it('explains what happened to the missing members', () => {
    const rejected = memberPod({ uid: 'x', phase: 'Failed', reason: 'OutOfcpu' });
    expect(incomplete(3, [...running(2), rejected], hasStarted)).toBe(
      'True MemberRefused: 2 members are scheduled, 3 are needed: node node-a did not admit pod-x (OutOfcpu)',
    );
    const evicted = memberPod({ uid: 'x', phase: 'Running', deleting: true, disruptedBy: 'DeletionByTaintManager' });
    expect(incomplete(3, [...running(2), evicted], hasStarted)).toMatch(
      /True MemberDisrupted: .*: pod-x must leave node node-a \(DeletionByTaintManager\)$/,
    );
    expect(incomplete(3, [...running(2), ...failed(1)])).toMatch(/True MemberFailed: .*: pod-Failed-0 has failed$/);
    // A disrupted pod counts as long as it runs.
    const stays = memberPod({ uid: 'x', phase: 'Running', disruptedBy: 'EvictionByEvictionAPI' });
    expect(incomplete(3, [...running(2), stays])).toMatch(/^False QuorumScheduled/);
  });

  it('is False for a group that has lost all its members, as for a waiting one', () => {
    expect(incomplete(3, pending(3), hasStarted)).toMatch(/^False NotScheduled/);
  });
});

describe('a group that can never start', () => {
  const scheduledOf = (options: Parameters<typeof podGroup>[0], members = pending(2)): Condition =>
    conditionOf(derivePodGroupStatus(podGroup({ minMember: 2, ...options }), members, now), 'Scheduled');

  it('reports a name that is too long for a label', () => {
    expect(scheduledOf({ name: 'a'.repeat(64) }, [])).toMatchObject({
      status: 'False',
      reason: 'InvalidSpec',
      message:
        'metadata.name has 64 characters, but the label that puts a pod into the group has at most 63: no pod can join the group; create it with a shorter name',
    });
    expect(scheduledOf({ name: 'a'.repeat(63) }, []).reason).toBe('WaitingForGang');
  });

  it.each(['', ' ', '/gpu', 'nvidia.com/', 'a/b/c', '-cpu', 'x'.repeat(64), `${'a'.repeat(254)}/b`])(
    'reports the resource name %j in minResources, instead of the verdict of its members',
    (name) => {
      const members = pending(2, { verdict: { reason: 'Unschedulable', message: 'no' } });
      const { status, reason, message } = scheduledOf({ minResources: { [name]: '1' } }, members);
      expect([status, reason]).toEqual(['False', 'InvalidSpec']);
      expect(message).toMatch(/^spec\.minResources has ".*", which is not a valid resource name/);
    },
  );

  it.each(['cpu', 'memory', 'hugepages-2Mi', 'nvidia.com/gpu', 'example.com/A_b.c', 'pods'])(
    'does not include a group with %s in minResources',
    (name) => {
      expect(scheduledOf({ minResources: { [name]: '-1' } }).reason).toBe('WaitingForScheduler');
    },
  );

  it('does not include a group that is already scheduled', () => {
    expect(scheduledOf({ minResources: { '': '1' } }, running(2)).status).toBe('True');
  });
});

describe('SpecAccepted', () => {
  const derivedFor = (options: Parameters<typeof podGroup>[0], previous?: PodGroupStatus): readonly Condition[] =>
    derivePodGroupStatus(podGroup({ minMember: 2, ...options, ...(previous && { status: previous }) }), pending(2), now)
      .conditions;

  it('names negative fields, which have no effect', () => {
    const conditions = derivedFor({ scheduleTimeoutSeconds: -5, minResources: { cpu: '-2', memory: '1Gi' } });
    expect(conditions.at(-1)).toMatchObject({
      type: 'SpecAccepted',
      status: 'False',
      reason: 'FieldIgnored',
      message:
        'spec.scheduleTimeoutSeconds is -5, spec.minResources requests -2 "cpu": a negative value has no effect; set at least 0, or remove the field',
    });
  });

  it('keeps its transition time, and is removed once every field has an effect', () => {
    const given = derivedFor({ scheduleTimeoutSeconds: -5 }).map((condition) => ({
      ...condition,
      lastTransitionTime: '2020-01-01T00:00:00Z',
    }));
    const kept = derivedFor({ scheduleTimeoutSeconds: -6 }, { conditions: given });
    expect(kept.at(-1)).toMatchObject({ type: 'SpecAccepted', lastTransitionTime: '2020-01-01T00:00:00Z' });
    const left = derivedFor({ scheduleTimeoutSeconds: 0 }, { conditions: given });
    expect(left.map(({ type }) => type)).toEqual(['Scheduled', 'Started', 'Ready', 'Incomplete']);
  });
});

describe('RepairGraceLimited', () => {
  const derivedFor = (repairGraceSeconds: number, status: PodGroupStatus = {}): readonly Condition[] =>
    derivePodGroupStatus(podGroup({ minMember: 2, repairGraceSeconds, status }), pending(2), now, {
      maxRepairGraceMs: 120_000,
    }).conditions;

  it('says which value applies instead, and is removed once the value is within the maximum', () => {
    const limited = derivedFor(2_147_483_647);
    expect(limited.at(-1)).toMatchObject({
      type: 'RepairGraceLimited',
      status: 'True',
      reason: 'AboveMaximum',
      message: 'spec.repairGraceSeconds is 2147483647, but the administrator allows at most 120: 120 s apply',
    });
    expect(derivedFor(120, { conditions: limited }).map(({ type }) => type)).not.toContain('RepairGraceLimited');
  });
});

it('makes texts of users safe to show', () => {
  const hostile = `\u001b[2J\n${'x'.repeat(200_000)}`;
  const members = ['a', 'b'].map((uid) =>
    memberPod({ uid, owners: [hostile], verdict: { reason: 'Unschedulable', message: hostile } }),
  );
  const { occupiedBy, conditions } = derive(2, members);
  for (const text of [occupiedBy, ...conditions.map(({ message }) => message)]) {
    expect(text).toMatch(/^[ -~…]*$/);
    expect(text.length).toBeLessThanOrEqual(1_024);
  }
  expect(conditions[0]!.message).toMatch(/^\\u001b\[2J\\u000ax+…$/);
  expect(derive(2, members, { occupiedBy, conditions })).toMatchObject({ occupiedBy, conditions });
});
