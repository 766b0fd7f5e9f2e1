import { beforeEach, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/plane/apiserver/json.ts';
import { NativeConditionChecker } from './native-condition.ts';
import { calmEvidence, nativeMemberOf, WrittenRecord } from './written-record.ts';

const groups = 'podgroups.scheduling.k8s.io';

let store: WrittenRecord;
let checker: NativeConditionChecker;
let violations: string[];

beforeEach(() => {
  store = new WrittenRecord();
  violations = [];
  const evidence = calmEvidence({
    record: store.record,
    now: () => store.version + 10_000,
    violated: (_invariant, what) => void violations.push(what),
  });
  checker = new NativeConditionChecker(evidence, { schedulerNames: ['tutti'], hasController: true });
  checker.committed(store.add(groups, 'default/red', red()));
});

function red(status?: 'True' | 'False', spec: JsonObject = {}): JsonObject {
  const conditions = status === undefined ? [] : [{ type: 'PodGroupInitiallyScheduled', status }];
  return {
    metadata: { namespace: 'default', name: 'red', uid: 'red' },
    spec: { schedulingPolicy: { gang: { minCount: 2 } }, priority: 0, ...spec },
    status: { conditions },
  };
}

function bind(...names: readonly string[]): void {
  for (const name of names)
    checker.committed(store.add('pods', `default/${name}`, nativeMemberOf('red', { name, node: 'a' })));
}

function write(object: JsonObject, by = 'controller-1'): void {
  store.by = by;
  checker.committed(store.change(groups, 'default/red', object));
}

it('accepts the condition of a group whose quorum is bound, and misses it once the cluster has settled', () => {
  bind('r0', 'r1');
  checker.settled();
  expect(violations).toEqual(['group native:red has its quorum bound, and no condition PodGroupInitiallyScheduled']);
  violations = [];
  write(red('True'));
  checker.settled();
  expect(violations).toEqual([]);
});

it('reports the condition of a group that never had its quorum bound', () => {
  bind('r0');
  write(red('True'));
  expect(violations).toEqual(['controller-1 notes that group native:red was scheduled, which it never was']);
});

it('reports a condition that is taken back, and other changes', () => {
  bind('r0', 'r1');
  write(red('True'));
  write(red('False'));
  write(red('True', { priority: 1 }));
  expect(violations).toEqual([
    'controller-1 takes back the condition of group native:red, or changes it',
    'controller-1 changes more of group native:red than its condition',
  ]);
  violations = [];
  write(red(), 'world');
  expect(violations).toEqual([]);
});

it('reports the condition of a group of which another scheduler schedules members', () => {
  const other: any = nativeMemberOf('red', { name: 'r2' });
  other.spec.schedulerName = 'other';
  checker.committed(store.add('pods', 'default/r2', other));
  bind('r0', 'r1');
  checker.settled();
  write(red('True'));
  expect(violations).toEqual([
    'controller-1 writes the condition of group native:red, of which another scheduler schedules members',
  ]);
});
