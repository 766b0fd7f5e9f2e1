import { describe, expect, it } from 'vitest';
import type { Call } from '../world/call.ts';
import { PriorityChecker } from './priority.ts';
import { calmEvidence, memberOf, nodeFor, WrittenRecord } from './written-record.ts';

/** A node for one pod; a pod of high priority waits for it, and one of low priority gets it. Returns the violations. */
function play({ waitsMs = 60_000, promptFrom = 0, pods = 1 } = {}): readonly string[] {
  const store = new WrittenRecord();
  const violations: string[] = [];
  let now = 0;
  const checker = new PriorityChecker(
    calmEvidence({
      record: store.record,
      now: () => now,
      promptFrom: () => promptFrom,
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
  now = store.at = 1_000;
  for (const [name, priority] of [
    ['high', 100],
    ['low', 0],
  ] as const) {
    checker.committed(store.add('pods', `default/${name}`, lone(name, priority)));
  }
  now = store.at = 1_000 + waitsMs;
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

  it('reports nothing if there is capacity for both', () => {
    expect(play({ pods: 2 })).toEqual([]);
  });
});
