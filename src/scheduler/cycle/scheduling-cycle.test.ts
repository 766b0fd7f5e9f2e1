import { describe, expect, it } from 'vitest';
import { isResolvable } from '../../framework/diagnosis.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import type { BindingPlan } from '../binding/binding-plan.ts';
import type { CycleResult } from './cycle-result.ts';
import { entityInFlight } from '../testing/entity.ts';
import { Picture } from '../../testkit/picture.ts';

interface Fixture {
  readonly picture: Picture;
  /** An attempt for the group of this name. */
  readonly attempt: (group: string) => CycleResult;
  readonly attemptPod: (name: string) => CycleResult;
}

function fixture(...extra: Plugin[]): Fixture {
  const picture = new Picture({ plugins: defaultPlugins, extra });
  const { cluster, core, profile } = picture;
  const { cycle } = core;
  return {
    picture,
    attempt: (group) => cycle.run(entityInFlight({ gang: cluster.gang(`default/${group}`)! }), profile),
    attemptPod: (name) => cycle.run(entityInFlight({ pod: picture.pod({ name, cpu: 1 }) }), profile),
  };
}

function planned(result: CycleResult): BindingPlan {
  if (result.kind !== 'planned') throw new Error(`the attempt ended ${result.kind}`);
  return result.plan;
}

function refused(result: CycleResult): Extract<CycleResult, { kind: 'refused' }> {
  if (result.kind !== 'refused') throw new Error(`the attempt ended ${result.kind}`);
  return result;
}

describe('an attempt for a group', () => {
  it('ends with the whole quorum assumed, every sibling allowed', () => {
    const { picture, attempt } = fixture();
    picture.node({ name: 'a', cpu: 4 });
    picture.group({ name: 'red', minMember: 3 });
    picture.pods(3, { group: 'red', cpu: 1 });
    const plan = planned(attempt('red'));
    expect(plan.placements).toHaveLength(3);
    expect(plan.waiting).toEqual([]);
    expect(picture.waitingPods.size).toBe(0);
    expect(picture.cluster.assumedCount).toBe(3);
    expect(picture.cluster.node('a')!.free(0)).toBe(1000);
  });

  it('ends with nothing assumed when one member finds no node, and one verdict for all of them', () => {
    const { picture, attempt } = fixture();
    picture.node({ name: 'a', cpu: 2 });
    picture.group({ name: 'red', minMember: 3 });
    const members = picture.pods(3, { group: 'red', cpu: 1 });
    const before = picture.rooms();
    const { pods, verdict, failure } = refused(attempt('red'));
    expect(pods).toEqual(members);
    expect(verdict).toEqual({
      reason: 'Unschedulable',
      message:
        'PodGroup default/red cannot start: with 2 of 3 members placed, red-2 finds no node: ' +
        '0/1 nodes are available: 1 Insufficient cpu. It would not fit even if all other pods were gone.',
      waitsFor: 'never',
      cause: 'Insufficient cpu. It would not fit even if all other pods were gone.',
    });
    expect(failure).toMatchObject({ error: false, refusedBy: new Set(['NodeResourcesFit']) });
    expect(picture.rooms()).toEqual(before);
    expect(picture.cluster.assumedCount).toBe(0);
    expect(picture.waitingPods.size).toBe(0);
  });

  it('says the same again when nothing has changed', () => {
    const { picture, attempt } = fixture();
    picture.node({ name: 'a', cpu: 2 });
    picture.group({ name: 'red', minMember: 3 });
    picture.pods(3, { group: 'red', cpu: 1 });
    const first = refused(attempt('red')).verdict;
    expect(refused(attempt('red')).verdict).toEqual(first);
    expect(refused(attempt('red')).verdict).toEqual(first);
  });

  it('asks hints about each kind of member', () => {
    const { picture, attempt } = fixture();
    picture.node({ name: 'a', cpu: 2 });
    picture.group({ name: 'red', minMember: 3 });
    picture.pods(2, { name: 'small', group: 'red', cpu: 1 });
    picture.pod({ name: 'large', group: 'red', cpu: 2 });
    const { refusedPods } = refused(attempt('red')).failure;
    expect(refusedPods.map(({ name }) => name.split('-')[0]).sort()).toEqual(['large', 'small']);
  });

  it('asks every plugin that refused any member, because what helps one may make room for another', () => {
    const { picture, attempt } = fixture();
    picture.node({ name: 'free', cpu: 2 });
    picture.node({ name: 'tainted', cpu: 2, taints: ['only=others:NoSchedule'] });
    picture.group({ name: 'red', minMember: 2 });
    picture.pod({
      name: 'small',
      group: 'red',
      cpu: 1,
      tolerations: [{ key: 'only', operator: 'Exists' }],
      nodeSelector: { 'kubernetes.io/hostname': 'free' },
    });
    picture.pod({ name: 'large', group: 'red', cpu: 2 });
    const { refusedBy } = refused(attempt('red')).failure;
    expect([...refusedBy].sort()).toEqual(['NodeAffinity', 'NodeResourcesFit', 'TaintToleration']);
  });

  it('needs only the members that are missing', () => {
    const { picture, attempt } = fixture();
    picture.node({ name: 'a', cpu: 3 });
    picture.group({ name: 'red', minMember: 3 });
    picture.pod({ name: 'red-bound', group: 'red', cpu: 1, nodeName: 'a' });
    picture.pods(3, { group: 'red', cpu: 1 });
    expect(planned(attempt('red')).placements).toHaveLength(2);
  });

  it('is settled when the quorum stands', () => {
    const { picture, attempt } = fixture();
    picture.node({ name: 'a', cpu: 3 });
    picture.group({ name: 'red', minMember: 1 });
    picture.pod({ group: 'red', cpu: 1, nodeName: 'a' });
    picture.pod({ group: 'red', cpu: 1 });
    expect(attempt('red').kind).toBe('settled');
  });

  it('does not happen for a group that is not ready', () => {
    const { picture, attempt } = fixture();
    picture.node({ name: 'a', cpu: 3 });
    picture.group({ name: 'red', minMember: 3 });
    picture.pods(2, { group: 'red', cpu: 1 });
    expect(attempt('red').kind).toBe('notReady');
  });

  it('is refused for want of minResources without looking at a node', () => {
    const { picture, attempt } = fixture();
    picture.node({ name: 'a', cpu: 3 });
    picture.group({ name: 'red', minMember: 1, minResources: { cpu: 8 } });
    picture.pod({ group: 'red', cpu: 1 });
    expect(refused(attempt('red')).verdict.message).toMatch(
      /^PodGroup default\/red cannot start: its minResources ask for 8 of cpu, but only 3 is free /,
    );
  });
});

describe('an attempt for a lone pod', () => {
  it('ends with the pod assumed', () => {
    const { picture, attemptPod } = fixture();
    picture.node({ name: 'a', cpu: 1 });
    expect(planned(attemptPod('x')).placements[0]!.nodeName).toBe('a');
    expect(refused(attemptPod('y')).verdict).toEqual({
      reason: 'Unschedulable',
      message: '0/1 nodes are available: 1 Insufficient cpu.',
      waitsFor: 'capacity',
      cause: 'Insufficient cpu',
    });
  });

  it('says so when there is no node at all', () => {
    const { attemptPod } = fixture();
    expect(refused(attemptPod('x')).verdict.message).toBe('0/0 nodes are available: no nodes are known.');
  });

  it('is settled when the pod is bound or being deleted', () => {
    const { picture } = fixture();
    const { cluster, profile } = picture;
    const { cycle } = picture.core;
    picture.node({ name: 'a', cpu: 1 });
    const pod = picture.pod({ name: 'x' });
    cluster.setPod({ ...pod, deleting: true });
    expect(cycle.run(entityInFlight({ pod }), profile).kind).toBe('settled');
    cluster.setPod({ ...pod, nodeName: 'a' });
    expect(cycle.run(entityInFlight({ pod }), profile).kind).toBe('settled');
  });
});

describe('Permit', () => {
  const recorded = (permit: NonNullable<Plugin['permit']>): { plugin: Plugin; unreserved: string[] } => {
    const unreserved: string[] = [];
    const unreserve: NonNullable<Plugin['unreserve']> = (_state, pod) => unreserved.push(pod.name);
    return { plugin: { name: 'Gate', permit, unreserve }, unreserved };
  };

  it('that rejects one member undoes the whole group, latest placement first', () => {
    const { plugin, unreserved } = recorded((_state, pod) =>
      pod.name === 'red-2' ? new Status('Unschedulable', 'the gate is shut') : undefined,
    );
    const { picture, attempt } = fixture(plugin);
    picture.node({ name: 'a', cpu: 4 });
    picture.group({ name: 'red', minMember: 3 });
    picture.pods(3, { group: 'red', cpu: 1 });
    const before = picture.rooms();
    const { verdict, failure } = refused(attempt('red'));
    expect(verdict.message).toBe('PodGroup default/red cannot start: the gate is shut.');
    expect([...failure.refusedBy]).toEqual(['Gate']);
    expect(unreserved).toEqual(['red-2', 'red-1', 'red-0']);
    expect(picture.rooms()).toEqual(before);
    expect(picture.waitingPods.size).toBe(0);
    expect(picture.clock.untilNextTimer()).toBeUndefined();
  });

  it('that waits leaves the members waiting and assumed', () => {
    const { plugin } = recorded(() => ({ waitMs: 5000 }));
    const { picture, attempt } = fixture(plugin);
    picture.node({ name: 'a', cpu: 4 });
    picture.group({ name: 'red', minMember: 3 });
    picture.pods(3, { group: 'red', cpu: 1 });
    const plan = planned(attempt('red'));
    expect(plan.waiting.map(({ pendingPlugins }) => pendingPlugins)).toEqual([['Gate'], ['Gate'], ['Gate']]);
    expect(picture.cluster.assumedCount).toBe(3);
  });

  it('that rejects a waiting sibling at once refuses the group', () => {
    const waiting: Plugin = { name: 'Gate', permit: () => ({ waitMs: 5000 }) };
    const fixed = fixture(waiting, {
      name: 'Judge',
      permit: (_state, pod) => {
        if (pod.name !== 'red-2') return undefined;
        fixed.picture.waitingPods.all()[0]!.reject('Judge', 'not this one');
        return undefined;
      },
    });
    fixed.picture.node({ name: 'a', cpu: 4 });
    fixed.picture.group({ name: 'red', minMember: 3 });
    fixed.picture.pods(3, { group: 'red', cpu: 1 });
    expect(refused(fixed.attempt('red')).verdict.message).toBe('PodGroup default/red cannot start: not this one.');
    expect(fixed.picture.cluster.assumedCount).toBe(0);
    expect(fixed.picture.waitingPods.size).toBe(0);
  });
});

describe('a plugin that fails', () => {
  it.each(['preFilter', 'filter', 'reserve', 'permit'] as const)(
    'in %s fails its entity, named, and changes nothing',
    (point) => {
      const { picture, attempt } = fixture({
        name: 'Broken',
        sign: () => '',
        [point]: () => {
          throw new Error('a bug');
        },
      });
      picture.node({ name: 'a', cpu: 4 });
      picture.group({ name: 'red', minMember: 2 });
      picture.pods(2, { group: 'red', cpu: 1 });
      const before = picture.rooms();
      const { verdict, failure } = refused(attempt('red'));
      expect(verdict.reason).toBe('SchedulerError');
      expect(verdict.message).toMatch(/^PodGroup default\/red cannot start: Broken failed in \w+: a bug\.$/);
      expect(failure).toMatchObject({ error: true });
      expect([...failure.refusedBy]).toContain('Broken');
      expect(picture.rooms()).toEqual(before);
      expect(picture.cluster.assumedCount).toBe(0);
    },
  );
});

describe('PostFilter', () => {
  it('is asked once for a group that does not fit, after everything is undone, and adds to the verdict', () => {
    const asked: number[] = [];
    const fixed = fixture({
      name: 'Preempting',
      postFilter: (candidate, diagnosis) => {
        asked.push(fixed.picture.cluster.assumedCount);
        expect(candidate.kind).toBe('gang');
        expect(isResolvable(diagnosis)).toBe(true);
        return { message: 'Nothing can be preempted.' };
      },
    });
    fixed.picture.node({ name: 'a', cpu: 2 });
    fixed.picture.pod({ cpu: 1, nodeName: 'a' });
    fixed.picture.group({ name: 'red', minMember: 2 });
    fixed.picture.pods(2, { group: 'red', cpu: 1 });
    expect(refused(fixed.attempt('red')).verdict.message).toMatch(/Nothing can be preempted\.$/);
    expect(asked).toEqual([0]);
  });
});
