import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { GangHistory } from './gang-history.ts';
import type { ObservedPod } from './observed.ts';
import { groupOf, podOf } from './testing/observed-objects.ts';

/** Creates a history of groups with minMember 3. */
function historyOf(...groups: readonly string[]): GangHistory {
  const history = new GangHistory();
  for (const group of groups) history.groupSeen(0, groupOf(group, 3));
  return history;
}

function bind(history: GangHistory, atMs: number, ...pods: readonly string[]): void {
  for (const pod of pods) history.podSeen(atMs, podOf(pod, { nodeName: 'node-1' }));
}

function setPhase(history: GangHistory, atMs: number, phase: ObservedPod['phase'], ...pods: readonly string[]): void {
  for (const pod of pods) history.podSeen(atMs, podOf(pod, { nodeName: 'node-1', phase }));
}

describe('GangHistory.partialStarts', () => {
  it('reports nothing if all members are bound within a second of the first', () => {
    const history = historyOf('red');
    bind(history, 1_000, 'red-0');
    bind(history, 2_000, 'red-1', 'red-2');
    expect(history.partialStarts()).toEqual([]);
    expect(history.group('default/red')).toMatchObject({ state: 'scheduled', bound: 3, scheduledAtMs: 2_000 });
  });

  it('reports a group whose last member is bound more than a second after the first', () => {
    const history = historyOf('red');
    bind(history, 1_000, 'red-0', 'red-1');
    bind(history, 2_001, 'red-2');
    expect(history.partialStarts()).toEqual([
      { group: 'default/red', fromMs: 1_000, toMs: 2_001, bound: 2, minMember: 3 },
    ]);
  });

  it('uses the times of the API server, however late the watch shows the Bindings', () => {
    const history = historyOf('red', 'blue');
    const bound = (name: string, atMs: number, boundAtMs: number): void =>
      history.podSeen(atMs, podOf(name, { nodeName: 'node-1', boundAtMs }));
    for (const [index, name] of ['red-0', 'red-1', 'red-2'].entries()) bound(name, 4_000 * index, 60_000);
    for (const [index, name] of ['blue-0', 'blue-1', 'blue-2'].entries()) bound(name, 9_000, 60_000 + 2_000 * index);
    expect(history.partialStarts()).toMatchObject([{ group: 'default/blue', bound: 2 }]);
  });

  it('reports a group that is still partially bound, however recent its first Binding is', () => {
    const history = historyOf('red');
    bind(history, 1_000, 'red-0');
    expect(history.partialStarts()).toMatchObject([{ fromMs: 1_000, toMs: undefined, bound: 1 }]);
  });

  it('reports nothing if the first bound members are deleted within a second', () => {
    const history = historyOf('red');
    bind(history, 1_000, 'red-0');
    history.podDeleted(1_500, 'default/red-0');
    expect(history.partialStarts()).toEqual([]);
  });

  it('reports nothing if a scheduled group loses members', () => {
    const history = historyOf('red');
    bind(history, 1_000, 'red-0', 'red-1', 'red-2');
    history.podDeleted(2_000, 'default/red-0');
    expect(history.partialStarts()).toEqual([]);
    expect(history.group('default/red')).toMatchObject({ state: 'scheduled', bound: 2 });
  });

  it('reports a group that lost all members and is then partially bound', () => {
    const history = historyOf('red');
    bind(history, 1_000, 'red-0', 'red-1', 'red-2');
    for (const pod of ['red-0', 'red-1', 'red-2']) history.podDeleted(2_000, `default/${pod}`);
    bind(history, 3_000, 'red-0');
    expect(history.partialStarts()).toMatchObject([{ fromMs: 3_000 }]);
  });

  it('starts counting when the PodGroup appears, if members were bound earlier', () => {
    const history = new GangHistory();
    bind(history, 1_000, 'red-0');
    expect(history.partialStarts()).toEqual([]);
    history.groupSeen(5_000, groupOf('red', 2));
    expect(history.partialStarts()).toMatchObject([{ fromMs: 5_000, bound: 1, minMember: 2 }]);
  });

  it('treats a pod with the same name and another uid as a new pod', () => {
    const history = historyOf('red');
    bind(history, 1_000, 'red-0', 'red-1', 'red-2');
    for (const pod of ['red-1', 'red-2']) history.podDeleted(2_000, `default/${pod}`);
    history.podSeen(3_000, podOf('red-0', { uid: 'another' }));
    expect(history.group('default/red')).toMatchObject({ state: 'unbound', members: 1, bound: 0 });
  });

  it('finds the same partial starts as a reference model', () => {
    const step = fc.record({
      gapMs: fc.integer({ min: 0, max: 700 }),
      pod: fc.integer({ min: 0, max: 3 }),
      isBound: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const history = historyOf('red');
        const bound = new Set<number>();
        let wasScheduled = false;
        let sinceMs: number | undefined;
        let expected = 0;
        let nowMs = 0;
        for (const { gapMs, pod, isBound } of steps) {
          nowMs += gapMs;
          if (isBound) bind(history, nowMs, `red-${pod}`);
          else history.podDeleted(nowMs, `default/red-${pod}`);
          if (isBound) bound.add(pod);
          else bound.delete(pod);
          wasScheduled = bound.size > 0 && (wasScheduled || bound.size >= 3);
          const isPartial = bound.size > 0 && !wasScheduled;
          if (isPartial) sinceMs ??= nowMs;
          else {
            if (sinceMs !== undefined && nowMs - sinceMs > 1_000) expected++;
            sinceMs = undefined;
          }
        }
        expect(history.partialStarts()).toHaveLength(expected + (sinceMs === undefined ? 0 : 1));
      }),
    );
  });
});

describe('GangHistory.deadlock', () => {
  function twoPartialGroups(): GangHistory {
    const history = historyOf('red', 'blue');
    setPhase(history, 1_000, 'Running', 'red-0', 'red-1');
    setPhase(history, 2_000, 'Running', 'blue-0', 'blue-1');
    return history;
  }

  it('reports two partially bound groups after five seconds in which no pod starts or finishes', () => {
    const history = twoPartialGroups();
    expect(history.deadlock(6_999)).toBeUndefined();
    expect(history.deadlock(7_000)).toEqual({
      groups: ['default/red', 'default/blue'],
      sinceMs: 2_000,
      atMs: 7_000,
    });
  });

  it('restarts the five seconds whenever a pod starts or finishes', () => {
    const history = twoPartialGroups();
    setPhase(history, 4_000, 'Running', 'lone');
    setPhase(history, 6_000, 'Succeeded', 'lone');
    expect(history.deadlock(10_999)).toBeUndefined();
    expect(history.deadlock(11_000)).toBeDefined();
  });

  it('ignores changes of pods that neither start nor finish', () => {
    const history = twoPartialGroups();
    setPhase(history, 6_000, 'Running', 'blue-1');
    history.podSeen(6_500, podOf('blue-2', { verdict: 'no capacity' }));
    expect(history.deadlock(7_000)).toBeDefined();
  });

  it('reports nothing for one partially bound group, or after one of two groups is scheduled', () => {
    const one = historyOf('red', 'blue');
    setPhase(one, 1_000, 'Running', 'red-0', 'red-1');
    expect(one.deadlock(60_000)).toBeUndefined();
    const resolved = twoPartialGroups();
    bind(resolved, 3_000, 'red-2');
    expect(resolved.deadlock(60_000)).toBeUndefined();
  });
});

describe('GangHistory.group', () => {
  it('keeps the times when the group was scheduled and finished, even after pods are deleted', () => {
    const history = historyOf('red');
    bind(history, 1_000, 'red-0', 'red-1', 'red-2');
    setPhase(history, 2_000, 'Succeeded', 'red-0', 'red-1');
    expect(history.group('default/red')).toMatchObject({ scheduledAtMs: 1_000, finishedAtMs: undefined, succeeded: 2 });
    setPhase(history, 3_000, 'Failed', 'red-2');
    history.podDeleted(4_000, 'default/red-0');
    expect(history.group('default/red')).toMatchObject({ finishedAtMs: 3_000, succeeded: 1, failed: 1 });
  });
});

describe('GangHistory', () => {
  it('forgets a group that is deleted with its members, but keeps its partial start', () => {
    const history = historyOf('red', 'blue');
    bind(history, 1_000, 'red-0');
    history.groupDeleted(3_000, 'default/red');
    expect(history.groups().map(({ group, state }) => [group, state])).toEqual([
      ['default/red', 'unbound'],
      ['default/blue', 'unbound'],
    ]);
    history.podDeleted(3_100, 'default/red-0');
    history.groupDeleted(3_100, 'default/unknown');
    expect(history.groups().map(({ group }) => group)).toEqual(['default/blue']);
    expect(history.partialStarts()).toMatchObject([{ group: 'default/red', fromMs: 1_000, toMs: 3_000 }]);
  });

  it('resets the state of a group that is recreated, even if no deletion was seen', () => {
    const history = historyOf('red');
    setPhase(history, 1_000, 'Succeeded', 'red-0', 'red-1', 'red-2');
    expect(history.group('default/red')).toMatchObject({ state: 'scheduled', finishedAtMs: 1_000 });
    for (const name of ['red-0', 'red-1', 'red-2']) history.podDeleted(2_000, `default/${name}`);
    history.groupSeen(2_000, { ...groupOf('red', 3), uid: 'another' });
    expect(history.group('default/red')).toMatchObject({
      state: 'unbound',
      scheduledAtMs: undefined,
      finishedAtMs: undefined,
    });
  });

  it('keeps a group finished after its members are deleted, until it gets new members', () => {
    const history = historyOf('red');
    setPhase(history, 1_000, 'Succeeded', 'red-0', 'red-1', 'red-2');
    for (const name of ['red-0', 'red-1', 'red-2']) history.podDeleted(2_000, `default/${name}`);
    expect(history.group('default/red')).toMatchObject({ finishedAtMs: 1_000 });
    history.podSeen(3_000, podOf('red-0', { uid: 'another' }));
    expect(history.group('default/red')).toMatchObject({
      state: 'unbound',
      scheduledAtMs: undefined,
      finishedAtMs: undefined,
    });
  });
});

it('handles a group of 20,000 members', () => {
  const history = new GangHistory();
  history.groupSeen(0, groupOf('red', 20_000));
  for (const state of [{}, { nodeName: 'a' }, { nodeName: 'a', phase: 'Running' }] as const) {
    for (let i = 0; i < 20_000; i++) history.podSeen(1, podOf(`red-${i}`, state));
  }
  for (let i = 0; i < 5_000; i++) history.podDeleted(2, `default/red-${i}`);
  expect(history.group('default/red')).toMatchObject({
    members: 15_000,
    bound: 15_000,
    running: 15_000,
    state: 'scheduled',
  });
});

it('keeps the same counts as a full recount', () => {
  const random = seededRandom(3);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const history = new GangHistory();
  const pods = new Map<string, ObservedPod>();
  for (let step = 0; step < 2_000; step++) {
    const name = `${pick(['red', 'blue'])}-${Math.floor(random() * 6)}`;
    if (random() < 0.2) {
      pods.delete(name);
      history.podDeleted(step, `default/${name}`);
    } else {
      const phase = pick(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] as const);
      const pod = podOf(name, { phase, nodeName: pick([undefined, 'a']), uid: pick(['u1', 'u2']) });
      const moved = random() < 0.2 ? { ...pod, group: pick(['default/red', undefined]) } : pod;
      pods.set(name, moved);
      history.podSeen(step, moved);
    }
    for (const { group, members, bound, running, succeeded, failed } of history.groups()) {
      const own = [...pods.values()].filter((pod) => pod.group === group);
      const inPhase = (phase: string): number => own.filter((pod) => pod.phase === phase).length;
      expect([members, bound, running, succeeded, failed]).toEqual([
        own.length,
        own.filter(({ nodeName }) => nodeName !== undefined).length,
        inPhase('Running'),
        inPhase('Succeeded'),
        inPhase('Failed'),
      ]);
    }
  }
});
