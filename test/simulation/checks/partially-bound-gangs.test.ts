import { expect, it } from 'vitest';
import type { Call } from '../world/call.ts';
import type { StoreRecord } from '../world/record.ts';
import { PartialGroupChecker } from './partially-bound-gangs.ts';
import { TurnRecord } from './turn-record.ts';
import { calmEvidence, memberOf, nodeFor, WrittenRecord } from './written-record.ts';

const group = {
  metadata: { name: 'red', uid: 'red' },
  spec: { minMember: 2 },
  status: { conditions: [{ type: 'Started', status: 'False' }] },
};

interface Findings {
  readonly violations: string[];
  readonly excuses: string[];
}

function watch(
  record: StoreRecord,
  now: () => number,
  lagMs = 0,
): { readonly checker: PartialGroupChecker; readonly found: Findings } {
  const found: Findings = { violations: [], excuses: [] };
  const checker = new PartialGroupChecker(
    calmEvidence({
      record,
      now,
      lagMs: () => lagMs,
      violated: (_invariant, what) => found.violations.push(what),
      excused: (reason) => found.excuses.push(reason),
    }),
  );
  return { checker, found };
}

/** Returns a bound member of group red that a controller would replace. */
function controlled(name: string): any {
  const pod: any = memberOf('red', { name, node: 'a' });
  return { ...pod, metadata: { ...pod.metadata, ownerReferences: [{ controller: true }] } };
}

/**
 * A member ends before the other one is bound, and is deleted. Returns what the checker finds if the first write of a new leader comes
 * before or after the deletion.
 */
function findings(firstWrite: 'before' | 'after'): Findings {
  const store = new WrittenRecord();
  let now = 0;
  const { checker, found } = watch(store.record, () => now);
  store.add('nodes', '/a', nodeFor(1));
  store.add('podgroups.scheduling.x-k8s.io', 'default/red', group);
  store.add('pods', 'default/r0', { ...controlled('r0'), status: { phase: 'Failed' } });
  store.add('pods', 'default/r1', controlled('r1'));
  for (const change of store.record.changes) checker.committed(change);
  now = 1_000;
  if (firstWrite === 'after') store.remove('pods', 'default/r0');
  const { version } = store;
  checker.sent({
    process: { role: 'scheduler' },
    of: 'verdict',
    request: { method: 'PATCH' },
    views: [{ pods: version, nodes: version, podgroups: version }],
  } as unknown as Call);
  if (firstWrite === 'before') store.remove('pods', 'default/r0');
  now = 1_000_000;
  checker.settled();
  return found;
}

it('excuses a group of which a new leader found minMember bound members, even if one is gone by now', () => {
  const why = 'partially bound: a new leader assumes that it may have started';
  expect(findings('before')).toEqual({ violations: [], excuses: [why] });
});

it('reports a group of which a new leader found fewer bound members', () => {
  const what = 'group red has 1 of 2 members bound, cannot be completed, and is not released';
  expect(findings('after')).toEqual({ violations: [what], excuses: [] });
});

/**
 * Node n has capacity for the second member of group red, or for pod big, for which it is drained. Returns what the checker finds 100 s after
 * the first member was bound.
 */
function findingsBehindTurn(spec: object): readonly string[] {
  const store = new TurnRecord();
  const { checker, found } = watch(store.record, () => store.at!);
  store.at = 0;
  store.node('n', 2_000);
  store.add('podgroups.scheduling.x-k8s.io', 'default/red', { ...group, spec: { minMember: 2, ...spec } });
  store.pod('r0', { milliCpu: 0, node: 'n', group: 'red' });
  store.pod('r1', { milliCpu: 1_000, group: 'red' });
  store.pod('big', { milliCpu: 2_000, start: 'draining' });
  for (const change of store.record.changes) checker.committed(change);
  store.at = 100_000;
  checker.settled();
  return [...found.violations, ...found.excuses];
}

it('expects that a group behind a turn is released after its grace period, unless its policy is KeepTrying', () => {
  expect(findingsBehindTurn({ repairPolicy: 'KeepTrying', repairGraceSeconds: 0 })).toEqual([
    'partially bound: its policy is KeepTrying',
  ]);
  expect(findingsBehindTurn({ repairGraceSeconds: 0 })).toEqual([
    'partially bound: no controller would recreate its members',
  ]);
  expect(findingsBehindTurn({ repairGraceSeconds: 200 })).toEqual([
    'group red has 1 of 2 members bound, and the others fit',
  ]);
});

/** minMember is lowered to 1 for a moment, and a member is bound `boundAfter` ms after it was raised again. Watches are late by up to 1,000 ms. */
function findingsAfterLowering(boundAfter: number): readonly string[] {
  const store = new WrittenRecord();
  let now = 0;
  const { checker, found } = watch(store.record, () => now, 1_000);
  const withMinMember = (minMember: number) => ({ ...group, spec: { minMember } });
  const groups = 'podgroups.scheduling.x-k8s.io';
  store.at = 0;
  store.add(groups, 'default/red', withMinMember(2));
  store.change(groups, 'default/red', withMinMember(1));
  store.change(groups, 'default/red', withMinMember(2));
  store.at = boundAfter;
  store.add('pods', 'default/r0', controlled('r0'));
  for (const change of store.record.changes) checker.committed(change);
  now = 1_000_000;
  checker.settled();
  return [...found.violations, ...found.excuses];
}

it('excuses a group whose lower minMember late watches may have shown with a member that was bound later', () => {
  expect(findingsAfterLowering(900)).toEqual([
    'partially bound: the watches may have shown a lower minMember with later members',
  ]);
  expect(findingsAfterLowering(1_100)).toEqual([
    'group red has 1 of 2 members bound, cannot be completed, and is not released',
  ]);
});
