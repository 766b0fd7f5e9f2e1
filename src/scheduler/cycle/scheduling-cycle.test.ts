import { describe, expect, it } from 'vitest';
import { isResolvable } from '../../framework/diagnosis.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { withoutPreemption } from '../testing/preemption-plugins.ts';
import type { BindingPlan } from '../binding/binding-plan.ts';
import type { CycleResult } from './cycle-result.ts';
import { entityInFlight } from '../testing/entity.ts';
import { CoreHarness } from '../../testkit/core-harness.ts';

interface Fixture {
  readonly harness: CoreHarness;
  /** Makes an attempt for the group of this name. */
  readonly attempt: (group: string) => CycleResult;
  readonly attemptPod: (name: string) => CycleResult;
}

function fixture(...extra: Plugin[]): Fixture {
  const harness = new CoreHarness({ plugins: withoutPreemption, extra });
  const { cluster, core, profile } = harness;
  const { cycle } = core;
  return {
    harness,
    attempt: (group) => cycle.run(entityInFlight({ gang: cluster.gang(`default/${group}`)! }), profile),
    attemptPod: (name) => cycle.run(entityInFlight({ pod: harness.pod({ name, cpu: 1 }) }), profile),
  };
}

function planned(result: CycleResult): BindingPlan {
  if (result.kind !== 'planned') throw new Error(`the attempt ended ${result.kind}`);
  return result.plan;
}

function rejected(result: CycleResult): Extract<CycleResult, { kind: 'rejected' }> {
  if (result.kind !== 'rejected') throw new Error(`the attempt ended ${result.kind}`);
  return result;
}

describe('an attempt for a group', () => {
  it('ends with the whole quorum assumed and every sibling allowed', () => {
    const { harness, attempt } = fixture();
    harness.node({ name: 'a', cpu: 4 });
    harness.group({ name: 'red', minMember: 3 });
    harness.pods(3, { group: 'red', cpu: 1 });
    const plan = planned(attempt('red'));
    expect(plan.assignments).toHaveLength(3);
    expect(plan.waiting).toEqual([]);
    expect(harness.waitingPods.size).toBe(0);
    expect(harness.cluster.assumedCount).toBe(3);
    expect(harness.cluster.node('a')!.free(0)).toBe(1000);
  });

  it('ends with no pod assumed if one member finds no node, and one verdict for all members', () => {
    const { harness, attempt } = fixture();
    harness.node({ name: 'a', cpu: 2 });
    harness.group({ name: 'red', minMember: 3 });
    const members = harness.pods(3, { group: 'red', cpu: 1 });
    const before = harness.capacities();
    const { pods, verdict, failure } = rejected(attempt('red'));
    expect(pods).toEqual(members);
    expect(verdict).toEqual({
      reason: 'Unschedulable',
      message:
        'PodGroup default/red cannot start: 2 of 3 members would fit; red-2 would not: ' +
        '0/1 nodes are available: 1 Insufficient cpu. It needs 1 more cpu; 2 free, 2 in total. It would not fit even if all other pods were gone.',
      waitsFor: 'never',
      shortOf: 'cpu',
      cause: 'Insufficient cpu. It would not fit even if all other pods were gone.',
    });
    expect(failure).toMatchObject({ error: false, unschedulablePlugins: new Set(['NodeResourcesFit']) });
    expect(harness.capacities()).toEqual(before);
    expect(harness.cluster.assumedCount).toBe(0);
    expect(harness.waitingPods.size).toBe(0);
  });

  it('gives the same verdict again if nothing has changed', () => {
    const { harness, attempt } = fixture();
    harness.node({ name: 'a', cpu: 2 });
    harness.group({ name: 'red', minMember: 3 });
    harness.pods(3, { group: 'red', cpu: 1 });
    const first = rejected(attempt('red')).verdict;
    expect(rejected(attempt('red')).verdict).toEqual(first);
    expect(rejected(attempt('red')).verdict).toEqual(first);
  });

  it('passes one member of each pod class to the hints', () => {
    const { harness, attempt } = fixture();
    harness.node({ name: 'a', cpu: 2 });
    harness.group({ name: 'red', minMember: 3 });
    harness.pods(2, { name: 'small', group: 'red', cpu: 1 });
    harness.pod({ name: 'large', group: 'red', cpu: 2 });
    const { rejectedPods } = rejected(attempt('red')).failure;
    expect(rejectedPods.map(({ name }) => name.split('-')[0]).sort()).toEqual(['large', 'small']);
  });

  it('reports every plugin that rejected any member, because what helps one may free capacity for another', () => {
    const { harness, attempt } = fixture();
    harness.node({ name: 'free', cpu: 2 });
    harness.node({ name: 'tainted', cpu: 2, taints: ['only=others:NoSchedule'] });
    harness.group({ name: 'red', minMember: 2 });
    harness.pod({
      name: 'small',
      group: 'red',
      cpu: 1,
      tolerations: [{ key: 'only', operator: 'Exists' }],
      nodeSelector: { 'kubernetes.io/hostname': 'free' },
    });
    harness.pod({ name: 'large', group: 'red', cpu: 2 });
    const { unschedulablePlugins } = rejected(attempt('red')).failure;
    expect([...unschedulablePlugins].sort()).toEqual(['NodeAffinity', 'NodeResourcesFit', 'TaintToleration']);
  });

  it('needs only the missing members', () => {
    const { harness, attempt } = fixture();
    harness.node({ name: 'a', cpu: 3 });
    harness.group({ name: 'red', minMember: 3 });
    harness.pod({ name: 'red-bound', group: 'red', cpu: 1, nodeName: 'a' });
    harness.pods(3, { group: 'red', cpu: 1 });
    expect(planned(attempt('red')).assignments).toHaveLength(2);
  });

  it('is settled if the gang has its quorum', () => {
    const { harness, attempt } = fixture();
    harness.node({ name: 'a', cpu: 3 });
    harness.group({ name: 'red', minMember: 1 });
    harness.pod({ group: 'red', cpu: 1, nodeName: 'a' });
    harness.pod({ group: 'red', cpu: 1 });
    expect(attempt('red').kind).toBe('settled');
  });

  it('does not happen for a group that is not ready', () => {
    const { harness, attempt } = fixture();
    harness.node({ name: 'a', cpu: 3 });
    harness.group({ name: 'red', minMember: 3 });
    harness.pods(2, { group: 'red', cpu: 1 });
    expect(attempt('red').kind).toBe('notReady');
  });

  it('is rejected for lack of minResources without checking a node', () => {
    const { harness, attempt } = fixture();
    harness.node({ name: 'a', cpu: 3 });
    harness.group({ name: 'red', minMember: 1, minResources: { cpu: 8 } });
    harness.pod({ group: 'red', cpu: 1 });
    expect(rejected(attempt('red')).verdict.message).toMatch(
      /^PodGroup default\/red cannot start: its minResources request 8 cpu, but only 3 is free /,
    );
  });
});

describe('an attempt for a single pod', () => {
  it('ends with the pod assumed', () => {
    const { harness, attemptPod } = fixture();
    harness.node({ name: 'a', cpu: 1 });
    expect(planned(attemptPod('x')).assignments[0]!.nodeName).toBe('a');
    expect(rejected(attemptPod('y')).verdict).toEqual({
      reason: 'Unschedulable',
      message:
        '0/1 nodes are available: 1 Insufficient cpu. It needs 1 more cpu; 0 free, 1 in total. It is first in line for cpu.',
      waitsFor: 'capacity',
      shortOf: 'cpu',
      cause: 'Insufficient cpu',
    });
  });

  it('reports a cluster without nodes', () => {
    const { attemptPod } = fixture();
    expect(rejected(attemptPod('x')).verdict.message).toBe('0/0 nodes are available: no nodes are known.');
  });

  it('is settled if the pod is bound or terminating', () => {
    const { harness } = fixture();
    const { cluster, profile } = harness;
    const { cycle } = harness.core;
    harness.node({ name: 'a', cpu: 1 });
    const pod = harness.pod({ name: 'x' });
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

  it('rolls back the whole group if it rejects one member, latest placement first', () => {
    const { plugin, unreserved } = recorded((_state, pod) =>
      pod.name === 'red-2' ? new Status('Unschedulable', 'the gate is shut') : undefined,
    );
    const { harness, attempt } = fixture(plugin);
    harness.node({ name: 'a', cpu: 4 });
    harness.group({ name: 'red', minMember: 3 });
    harness.pods(3, { group: 'red', cpu: 1 });
    const before = harness.capacities();
    const { verdict, failure } = rejected(attempt('red'));
    expect(verdict.message).toBe('PodGroup default/red cannot start: the gate is shut.');
    expect([...failure.unschedulablePlugins]).toEqual(['Gate']);
    expect(unreserved).toEqual(['red-2', 'red-1', 'red-0']);
    expect(harness.capacities()).toEqual(before);
    expect(harness.waitingPods.size).toBe(0);
    expect(harness.clock.untilNextTimer()).toBeUndefined();
  });

  it('leaves the members waiting and assumed if it returns Wait', () => {
    const { plugin } = recorded(() => ({ waitMs: 5000 }));
    const { harness, attempt } = fixture(plugin);
    harness.node({ name: 'a', cpu: 4 });
    harness.group({ name: 'red', minMember: 3 });
    harness.pods(3, { group: 'red', cpu: 1 });
    const plan = planned(attempt('red'));
    expect(plan.waiting.map(({ pendingPlugins }) => pendingPlugins)).toEqual([['Gate'], ['Gate'], ['Gate']]);
    expect(harness.cluster.assumedCount).toBe(3);
  });

  it('rejects the group if it rejects a waiting sibling at once', () => {
    const waiting: Plugin = { name: 'Gate', permit: () => ({ waitMs: 5000 }) };
    const fixed = fixture(waiting, {
      name: 'Judge',
      permit: (_state, pod) => {
        if (pod.name !== 'red-2') return undefined;
        fixed.harness.waitingPods.all()[0]!.reject('Judge', 'not this one');
        return undefined;
      },
    });
    fixed.harness.node({ name: 'a', cpu: 4 });
    fixed.harness.group({ name: 'red', minMember: 3 });
    fixed.harness.pods(3, { group: 'red', cpu: 1 });
    expect(rejected(fixed.attempt('red')).verdict.message).toBe('PodGroup default/red cannot start: not this one.');
    expect(fixed.harness.cluster.assumedCount).toBe(0);
    expect(fixed.harness.waitingPods.size).toBe(0);
  });
});

describe('a plugin failure', () => {
  it.each(['preFilter', 'filter', 'reserve', 'permit'] as const)(
    'in %s fails the entity with an error that names the plugin, and changes nothing',
    (point) => {
      const { harness, attempt } = fixture({
        name: 'Broken',
        sign: () => '',
        [point]: () => {
          throw new Error('a bug');
        },
      });
      harness.node({ name: 'a', cpu: 4 });
      harness.group({ name: 'red', minMember: 2 });
      harness.pods(2, { group: 'red', cpu: 1 });
      const before = harness.capacities();
      const { verdict, failure } = rejected(attempt('red'));
      expect(verdict.reason).toBe('SchedulerError');
      expect(verdict.message).toMatch(/^PodGroup default\/red cannot start: Broken failed in \w+: a bug\.$/);
      expect(failure).toMatchObject({ error: true });
      expect([...failure.unschedulablePlugins]).toContain('Broken');
      expect(harness.capacities()).toEqual(before);
      expect(harness.cluster.assumedCount).toBe(0);
    },
  );
});

describe('PostFilter', () => {
  it('runs once for a group that does not fit, after the rollback, and adds to the verdict', () => {
    const assumedCounts: number[] = [];
    const fixed = fixture({
      name: 'Preempting',
      postFilter: (schedulingEntity, diagnosis) => {
        assumedCounts.push(fixed.harness.cluster.assumedCount);
        expect(schedulingEntity.kind).toBe('gang');
        expect(isResolvable(diagnosis)).toBe(true);
        return { message: 'Nothing can be preempted.' };
      },
    });
    fixed.harness.node({ name: 'a', cpu: 2 });
    fixed.harness.pod({ cpu: 1, nodeName: 'a' });
    fixed.harness.group({ name: 'red', minMember: 2 });
    fixed.harness.pods(2, { group: 'red', cpu: 1 });
    expect(rejected(fixed.attempt('red')).verdict.message).toMatch(/Nothing can be preempted\.$/);
    expect(assumedCounts).toEqual([0]);
  });
});
