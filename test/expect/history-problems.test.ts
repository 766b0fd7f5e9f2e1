import { describe, expect, it } from 'vitest';
import { Builders } from '../../src/testkit/builders/builders.ts';
import type { PodOptions } from '../../src/testkit/builders/pod.ts';
import { historyProblems } from './history-problems.ts';
import type { Change } from './recording.ts';
import type { WatchedNode, WatchedPod, WatchedPodGroup } from './watched.ts';

const build = new Builders();

/** A node for two pods of one core, a group of two, and what becomes of pods at which millisecond. */
function problemsOf(pods: readonly (readonly [number, WatchedPod, Change<WatchedPod>['type']?])[]): string[] {
  const added = <T>(object: T): Change<T> => ({ at: 0, type: 'ADDED', object });
  return historyProblems(
    {
      nodes: { changes: [added<WatchedNode>(build.node({ name: 'a', cpu: 2 }))] },
      podGroups: { changes: [added<WatchedPodGroup>(build.podGroup({ name: 'pair', minMember: 2 }))] },
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

describe('the history of a scenario', () => {
  it('is in order when a group starts within moments and its node has room', () => {
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

  it('shows a group that is partly on nodes at the end', () => {
    const problems = problemsOf([
      [1, member('x', { nodeName: 'a' })],
      [2, member('y')],
    ]);
    expect(problems).toEqual(['PodGroup default/pair ends with 1 of 2 members on nodes']);
  });

  it('shows a group that was partly on nodes for too long, whole or gone later', () => {
    const [whole] = problemsOf([
      [1, member('x', { nodeName: 'a' })],
      [1_500, member('y', { nodeName: 'a' })],
    ]);
    const [gone] = problemsOf([
      [1, member('x', { nodeName: 'a' })],
      [1_500, member('x', { nodeName: 'a' }), 'DELETED'],
    ]);
    expect([whole, gone]).toEqual(Array(2).fill('PodGroup default/pair was partly on nodes for 1499 ms'));
  });

  it('does not hold it against a group that started that it loses members', () => {
    const problems = problemsOf([
      [1, member('x', { nodeName: 'a' })],
      [2, member('y', { nodeName: 'a' })],
      [3, member('y', { nodeName: 'a' }), 'DELETED'],
    ]);
    expect(problems).toEqual([]);
  });

  it('shows an over-committed node, even if only for a moment', () => {
    const problems = problemsOf([
      [1, pod('x', { nodeName: 'a' })],
      [2, pod('y', { nodeName: 'a' })],
      [3, pod('z', { nodeName: 'a' })],
      [4, pod('z', { nodeName: 'a' }), 'DELETED'],
    ]);
    expect(problems).toEqual(['node a is over-committed: 3000 of cpu, it has 2000']);
  });

  it('shows a pod that its node rejected', () => {
    const rejected = pod('x', { nodeName: 'a', phase: 'Failed' });
    const status = { ...rejected.status, reason: 'OutOfcpu', message: 'no cpu left' };
    expect(problemsOf([[1, { ...rejected, status }]])).toEqual(['node a rejected default/x: OutOfcpu: no cpu left']);
  });

  it('leaves out the pods of others', () => {
    const theirs = [0, 1, 2].map((index) => pod(`x-${index}`, { namespace: 'theirs', nodeName: 'a' }));
    expect(problemsOf(theirs.map((object, index) => [index, object] as const))).toEqual([]);
  });
});
