import { beforeEach, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/plane/apiserver/json.ts';
import { groupNamed, podsIn, tallyOf, whyHeldBack } from './plain-group.ts';
import { groupNameOfKey } from './plain-objects.ts';
import { memberOf, nativeMemberOf, WrittenRecord } from './written-record.ts';

let store: WrittenRecord;

beforeEach(() => {
  store = new WrittenRecord();
});

function native(name: string, minCount?: number): void {
  const schedulingPolicy: JsonObject = minCount === undefined ? { basic: {} } : { gang: { minCount } };
  store.add('podgroups.scheduling.k8s.io', `default/${name}`, {
    metadata: { namespace: 'default', name, uid: `native-${name}` },
    spec: { schedulingPolicy, priority: 0 },
  });
}

function labeled(name: string, minMember: number): void {
  store.add('podgroups.scheduling.x-k8s.io', `default/${name}`, {
    metadata: { namespace: 'default', name, uid: name },
    spec: { minMember },
  });
}

function add(pod: JsonObject, spec: JsonObject = {}): void {
  const { metadata, spec: before, ...rest }: any = pod;
  store.add('pods', `default/${metadata.name}`, { metadata, spec: { ...before, ...spec }, ...rest });
}

function heldBack(group: string): readonly [string, readonly string[]] | undefined {
  const pods = podsIn(store.record);
  const held = whyHeldBack(store.record, groupNamed(store.record, group)!, pods);
  return held && [held.why, held.pods.map(({ name }) => name)];
}

it('keeps groups of one name in the two APIs apart', () => {
  native('red', 2);
  labeled('red', 3);
  add(nativeMemberOf('red', { name: 'n0' }));
  add(memberOf('red', { name: 'l0' }));
  const namesIn = (group: string): string[] =>
    tallyOf(groupNamed(store.record, group)!, podsIn(store.record)).open.map(({ name }) => name);
  expect([namesIn('native:red'), namesIn('red')]).toEqual([['n0'], ['l0']]);
  expect(groupNameOfKey('scheduling.k8s.io/default/red')).toBe('native:red');
  expect(groupNameOfKey('scheduling.k8s.io/tenant/red')).toBe('native:tenant/red');
  expect(groupNameOfKey('default/red')).toBe('red');
});

it('knows that a gang waits for scheduling gates, and that a group of the other API does not', () => {
  native('red', 1);
  labeled('red', 1);
  const schedulingGates = [{ name: 'wait' }];
  add(nativeMemberOf('red', { name: 'n0' }), { schedulingGates });
  add(memberOf('red', { name: 'l0' }), { schedulingGates });
  expect(heldBack('native:red')).toEqual(['a member has scheduling gates', ['n0']]);
  expect(heldBack('red')).toBeUndefined();
});

it('knows that a member of another priority holds back its gang, but only itself in a basic group', () => {
  native('red', 1);
  native('blue');
  for (const group of ['red', 'blue']) {
    add(nativeMemberOf(group, { name: `${group}-0` }), { priority: 5 });
    add(nativeMemberOf(group, { name: `${group}-1` }));
  }
  expect(heldBack('native:red')).toEqual(['a member has another priority', ['red-0']]);
  expect(heldBack('native:blue')).toBeUndefined();
  const pods = podsIn(store.record);
  const blue = groupNamed(store.record, 'native:blue')!;
  const held = pods.filter((pod) => whyHeldBack(store.record, blue, pods, undefined, pod) !== undefined);
  expect(held.map(({ name }) => name)).toEqual(['blue-0']);
});

it('knows that a member holds back its labeled group while its spec names a gang', () => {
  labeled('red', 1);
  const schedulingGroup = { podGroupName: 'blue' };
  add(memberOf('red', { name: 'l0' }), { schedulingGroup });
  expect(heldBack('red')).toBeUndefined();
  native('blue', 2);
  expect(heldBack('red')).toEqual(['a member is in another gang by its spec', ['l0']]);
});
