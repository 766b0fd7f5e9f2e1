import { describe, expect, it } from 'vitest';
import type { Call } from '../world/call.ts';
import { PriorityChecker } from './priority.ts';
import { calmEvidence, memberOf, nodeFor, WrittenRecord } from './written-record.ts';

interface Course {
  /** How long the pod of high priority waits. */
  readonly waitsMs?: number;
  readonly promptFrom?: number;
  /** Capacity of the node. */
  readonly pods?: number;
  /** The pod of high priority arrives so long after the other. */
  readonly afterMs?: number;
  /** The scheduler binds another pod so long after the arrival of the pod of high priority. */
  readonly bindsAfterMs?: number;
  /** A pod of this namespace, like the one of high priority, is rejected by the node. */
  readonly rejected?: string;
  /** Priority of a group that has lost a member on the node, for which capacity may be reserved. */
  readonly lost?: number;
  /** Reason of the condition PodScheduled of `high`. */
  readonly shows?: string;
}

/** A node for one pod; a pod of high priority waits for it, and one of low priority gets it. Returns the violations. */
function play({
  waitsMs = 60_000,
  promptFrom = 0,
  pods = 1,
  afterMs = 0,
  bindsAfterMs,
  rejected,
  lost,
  shows,
}: Course = {}): readonly string[] {
  const store = new WrittenRecord();
  const violations: string[] = [];
  let now = 0;
  const checker = new PriorityChecker(
    calmEvidence({
      record: store.record,
      now: () => now,
      promptFrom: () => promptFrom,
      started: new Set(['red']),
      violated: (invariant, what) => violations.push(`${invariant} ${what}`),
    }),
    ['tutti'],
  );
  const lone = (name: string, priority: number, node?: string): any => {
    const pod: any = memberOf('', { name, ...(node !== undefined && { node }) });
    return { ...pod, metadata: { ...pod.metadata, labels: {} }, spec: { ...pod.spec, priority } };
  };
  store.add('nodes', '/a', nodeFor(pods));
  checker.committed(store.add('pods', 'default/old', lone('old', 0, 'a')));
  if (rejected !== undefined) {
    const pod: any = lone('rejected', 0, 'a');
    const elsewhere = { ...pod, metadata: { ...pod.metadata, namespace: rejected } };
    store.add('pods', `${rejected}/rejected`, elsewhere);
    const failed = { ...elsewhere, status: { phase: 'Failed', reason: 'OutOfcpu' } };
    checker.committed(store.change('pods', `${rejected}/rejected`, failed));
  }
  if (lost !== undefined) {
    const spec = { minMember: 2 };
    store.add('podgroups.scheduling.x-k8s.io', 'default/red', { metadata: { name: 'red', uid: 'red' }, spec });
    for (const name of ['r0', 'r1']) {
      const of = (node?: string): any => {
        const pod: any = memberOf('red', { name, ...(node !== undefined && { node }) });
        return { ...pod, spec: { ...pod.spec, priority: lost } };
      };
      store.add('pods', `default/${name}`, of());
      checker.committed(store.change('pods', `default/${name}`, of(name === 'r0' ? 'elsewhere' : 'a')));
    }
    store.at = 900;
    // One like it is left, so that the reservation lasts for the grace period.
    store.remove('pods', 'default/r1');
    checker.committed(store.record.changes.at(-1)!);
  }
  for (const [name, priority, at] of [
    ['low', 0, 1_000],
    ['high', 100, 1_000 + afterMs],
  ] as const) {
    now = store.at = at;
    const pod = lone(name, priority);
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: shows }];
    const shown = name === 'high' && shows !== undefined ? { ...pod, status: { ...pod.status, conditions } } : pod;
    checker.committed(store.add('pods', `default/${name}`, shown));
  }
  if (bindsAfterMs !== undefined) {
    now = store.at = now + bindsAfterMs;
    store.by = 'scheduler-1';
    const object = store.record.get('pods', 'default/old') as any;
    const labels = { ...object.metadata.labels, 'scheduling.x-k8s.io/pod-group': 'any' };
    checker.committed(store.change('pods', 'default/old', { ...object, metadata: { ...object.metadata, labels } }));
    store.by = 'world';
  }
  now = store.at = 1_000 + afterMs + waitsMs;
  store.remove('pods', 'default/old');
  checker.committed(store.record.changes.at(-1)!);
  const { version } = store;
  checker.sent({
    process: { name: 'one' },
    of: 'bind',
    request: {
      path: '',
      body: JSON.stringify({ metadata: { namespace: 'default', name: 'low', uid: 'low' }, target: { name: 'a' } }),
    },
    views: [{ pods: version, nodes: version, podgroups: version }],
  } as unknown as Call);
  return violations;
}

describe('PriorityChecker', () => {
  it('reports a Binding that takes the capacity of a pod of a higher priority', () => {
    expect(play()).toEqual(['I10 one binds low of priority 0 to a, which pod high of priority 100 needs and fits']);
  });

  it('reports nothing while the order is uncertain: during a back-off, or soon after a fault', () => {
    expect([play({ waitsMs: 5_000 }), play({ promptFrom: 60_000 })]).toEqual([[], []]);
  });

  it('reports nothing if the last attempt of the pod ended in an error', () => {
    const reports = (shows: string): boolean => play({ shows }).length > 0;
    expect([reports('SchedulerError'), reports('Unschedulable')]).toEqual([false, true]);
  });

  it('reports nothing if there is capacity for both', () => {
    expect(play({ pods: 2 })).toEqual([]);
  });

  it('knows that an entity was rejected only once, so that its back-off is short', () => {
    const reports = (course: Course): boolean => play({ afterMs: 10_000, ...course }).length > 0;
    expect([reports({ waitsMs: 3_001 }), reports({ waitsMs: 3_000 })]).toEqual([true, false]);
    // Something may have caused another attempt.
    expect([reports({ waitsMs: 8_000, bindsAfterMs: 4_000 }), reports({ waitsMs: 8_000, afterMs: 500 })]).toEqual([
      false,
      false,
    ]);
  });

  it('reports nothing if the node is closed to such a pod, but not because it is closed to others', () => {
    const reports = (course: Course): boolean => play({ waitsMs: 30_000, ...course }).length > 0;
    expect([reports({ rejected: 'default' }), reports({ rejected: 'tenant' })]).toEqual([false, true]);
  });

  it('reports nothing if capacity may be reserved, unless the pod need not respect that', () => {
    const reports = (course: Course): boolean => play({ waitsMs: 30_000, ...course }).length > 0;
    expect([reports({ lost: 100 }), reports({ lost: 99 })]).toEqual([false, true]);
  });
});
