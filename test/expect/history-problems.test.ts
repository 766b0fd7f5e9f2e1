import { describe, expect, it } from 'vitest';
import { Builders } from '../../src/testkit/builders/builders.ts';
import type { PodOptions } from '../../src/testkit/builders/pod.ts';
import { historyProblems } from './history-problems.ts';
import type { Change } from './recording.ts';
import type { WatchedNativeGroup, WatchedNode, WatchedPod, WatchedPodGroup } from './watched.ts';

const build = new Builders();

/**
 * Returns the problems of a history with a node for two pods of one core, a group of two in both APIs, a basic group, and the given pod
 * changes, each with its time in milliseconds.
 */
function problemsOf(pods: readonly (readonly [number, WatchedPod, Change<WatchedPod>['type']?])[]): string[] {
  const added = <T>(object: T): Change<T> => ({ at: 0, type: 'ADDED', object });
  return historyProblems(
    {
      nodes: { changes: [added<WatchedNode>(build.node({ name: 'a', cpu: 2 }))] },
      podGroups: { changes: [added<WatchedPodGroup>(build.podGroup({ name: 'pair', minMember: 2 }))] },
      nativePodGroups: {
        changes: [{ name: 'pair', minCount: 2 }, { name: 'basic' }].map((group) =>
          added(build.nativePodGroup(group) as WatchedNativeGroup),
        ),
      },
      pods: { changes: pods.map(([at, object, type = 'MODIFIED']) => ({ at, type, object })) },
      pulse: { workedMs: (from, to) => to - from },
    },
    { namespaces: new Set(['default']), partialForMs: 1_000 },
  );
}

function pod(name: string, options: PodOptions = {}): WatchedPod {
  return build.pod({ name, cpu: 1, ...options });
}

function member(name: string, options: PodOptions = {}): WatchedPod {
  return pod(name, { group: 'pair', ...options });
}

describe('historyProblems', () => {
  it('accepts a group that starts within moments on a node with enough capacity', () => {
    const problems = problemsOf([
      [1, member('x')],
      [2, member('y')],
      [3, member('x', { nodeName: 'a' })],
      [900, member('y', { nodeName: 'a' })],
      [5_000, member('x', { nodeName: 'a', phase: 'Succeeded' })],
      [6_000, pod('lone', { nodeName: 'a' })],
    ]);
    expect(problems).toEqual([]);
  });

  it('reports a group that is partially bound at the end', () => {
    const problems = problemsOf([
      [1, member('x', { nodeName: 'a' })],
      [2, member('y')],
    ]);
    expect(problems).toEqual(['PodGroup default/pair ends with 1 of 2 members bound']);
  });

  it('reports a gang of scheduling.k8s.io, but not a basic group', () => {
    const problems = problemsOf([
      [1, pod('x', { nodeName: 'a', schedulingGroup: 'pair' })],
      [2, pod('y', { nodeName: 'a', schedulingGroup: 'basic' })],
      [3, member('z')],
    ]);
    expect(problems).toEqual(['PodGroup scheduling.k8s.io/default/pair ends with 1 of 2 members bound']);
  });

  it('reports a group that was partially bound for too long, even if it is complete or gone later', () => {
    const [whole] = problemsOf([
      [1, member('x', { nodeName: 'a' })],
      [1_500, member('y', { nodeName: 'a' })],
    ]);
    const [gone] = problemsOf([
      [1, member('x', { nodeName: 'a' })],
      [1_500, member('x', { nodeName: 'a' }), 'DELETED'],
    ]);
    expect([whole, gone]).toEqual(Array(2).fill('PodGroup default/pair was partially bound for 1499 ms'));
  });

  it('accepts that a started group loses members', () => {
    const problems = problemsOf([
      [1, member('x', { nodeName: 'a' })],
      [2, member('y', { nodeName: 'a' })],
      [3, member('y', { nodeName: 'a' }), 'DELETED'],
    ]);
    expect(problems).toEqual([]);
  });

  it('reports an over-committed node, even if only for a moment', () => {
    const problems = problemsOf([
      [1, pod('x', { nodeName: 'a' })],
      [2, pod('y', { nodeName: 'a' })],
      [3, pod('z', { nodeName: 'a' })],
      [4, pod('z', { nodeName: 'a' }), 'DELETED'],
    ]);
    expect(problems).toEqual(['node a is over-committed: 3000 of cpu, it has 2000']);
  });

  it('reports a pod that its node rejected', () => {
    const rejected = pod('x', { nodeName: 'a', phase: 'Failed' });
    const status = { ...rejected.status, reason: 'OutOfcpu', message: 'no cpu left' };
    expect(problemsOf([[1, { ...rejected, status }]])).toEqual(['node a rejected default/x: OutOfcpu: no cpu left']);
  });

  it('ignores pods of other namespaces', () => {
    const theirs = [0, 1, 2].map((index) => pod(`x-${index}`, { namespace: 'theirs', nodeName: 'a' }));
    expect(problemsOf(theirs.map((object, index) => [index, object] as const))).toEqual([]);
  });
});
