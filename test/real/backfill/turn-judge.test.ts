import { describe, expect, it } from 'vitest';
import type { WatchedPod } from '../../expect/watched.ts';
import { TurnJudge } from './turn-judge.ts';

interface PodOptions {
  readonly group?: string;
  readonly node?: string;
  readonly deadline?: number;
  readonly runtime?: string;
  /** When its entity should start, in milliseconds since the epoch. */
  readonly predicted?: number;
  readonly phase?: string;
}

function pod(name: string, { group, node, deadline, runtime, predicted, phase = 'Pending' }: PodOptions): WatchedPod {
  const message = predicted === undefined ? '' : new Date(predicted).toISOString();
  return {
    metadata: {
      ...{ uid: name, name, namespace: 'default', resourceVersion: '1' },
      ...(group !== undefined && { labels: { 'scheduling.x-k8s.io/pod-group': group } }),
      ...(runtime !== undefined && { annotations: { 'tutti.dev/runtime': runtime } }),
    },
    spec: {
      ...(node !== undefined && { nodeName: node }),
      ...(deadline !== undefined && { activeDeadlineSeconds: deadline }),
      containers: [{ resources: { requests: { cpu: '2' } } }],
    },
    status: {
      phase,
      ...(predicted !== undefined && {
        conditions: [{ type: 'tutti.dev/PredictedStart', status: 'True', reason: 'Declared', message }],
      }),
    },
  };
}

/** Pods `a` and `b` run from second 0 for 100 and 60 s, and a gang of two has its turn at second 10. */
function gangWithTurn(): TurnJudge {
  const judge = new TurnJudge({ sizeOf: () => 2, reserveAfterMs: 5_000 });
  judge.podChanged('ADDED', pod('a', { node: 'x', deadline: 100 }), 0);
  judge.podChanged('ADDED', pod('b', { node: 'y', runtime: '1m' }), 0);
  judge.podChanged('ADDED', pod('gang-0', { group: 'gang' }), 4_000);
  judge.podChanged('ADDED', pod('gang-1', { group: 'gang' }), 5_000);
  judge.podChanged('MODIFIED', pod('gang-0', { group: 'gang', predicted: 60_000 }), 10_000);
  return judge;
}

function bind(judge: TurnJudge, ms: number): void {
  for (const name of ['gang-0', 'gang-1']) judge.podChanged('MODIFIED', pod(name, { group: 'gang', node: 'x' }), ms);
}

describe('TurnJudge', () => {
  it('accepts a start until 45 s after the latest declared end', () => {
    const judge = gangWithTurn();
    // It started after the turn began.
    judge.podChanged('ADDED', pod('c', { node: 'x', deadline: 1_000 }), 11_000);
    bind(judge, 145_000);
    const turn = { entity: 'gang', pods: 2, readyAt: 5_000, at: 10_000, predicted: 60_000, latestEnd: 100_000 };
    expect(judge.turns).toEqual([{ ...turn, startedAt: 145_000, bound: 145_000 }]);
    expect(judge.problems).toEqual([]);
    expect(judge.waits.at(-1)).toEqual({ size: 2, ms: 140_000 });
  });

  it('reports a start after that', () => {
    const judge = gangWithTurn();
    bind(judge, 147_000);
    expect(judge.problems).toEqual(['gang had its turn at 00:00:10 and was to start by 00:02:25: 2 s late']);
  });

  it('reports an entity that has not started by then', () => {
    const judge = gangWithTurn();
    judge.end(144_000);
    expect(judge.problems).toEqual([]);
    judge.end(146_000);
    expect(judge.problems).toHaveLength(1);
  });

  it('adds the time for which a pod runs longer than declared, and counts it', () => {
    const judge = gangWithTurn();
    judge.podChanged('MODIFIED', pod('a', { node: 'x', deadline: 100, phase: 'Succeeded' }), 130_000);
    bind(judge, 170_000);
    expect(judge.problems).toEqual([]);
    expect(judge.overruns).toBe(1);
    // Pod b, the gang and the pod that has ended.
    expect(judge.usedCpuMs(171_000)).toBe(2 * 171_000 + 2 * 2 * 1_000 + 2 * 130_000);
  });

  it('reports an entity that is first in order and gets no turn', () => {
    const judge = new TurnJudge({ sizeOf: () => 1, reserveAfterMs: 5_000 });
    judge.podChanged('ADDED', pod('first', {}), 0);
    judge.podChanged('ADDED', pod('second', {}), 1_000);
    for (let ms = 0; ms <= 50_000; ms += 1_000) judge.tick(ms);
    expect(judge.problems).toEqual([]);
    for (let ms = 51_000; ms <= 60_000; ms += 1_000) judge.tick(ms);
    expect(judge.problems).toEqual(['first is first in order, and has no turn after 45 s']);
    expect(judge.waiting).toBe(2);
  });
});
