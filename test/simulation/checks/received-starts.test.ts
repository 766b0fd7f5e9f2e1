import { expect, it } from 'vitest';
import type { Call } from '../world/call.ts';
import { groupNamed, viewAt } from './plain-group.ts';
import { ReceivedStarts } from './received-starts.ts';
import { memberOf, nativeMemberOf, WrittenRecord } from './written-record.ts';

const groups = 'podgroups.scheduling.x-k8s.io';

it('a start is missed if a running scheduler received no state with it, and no controller recorded it', () => {
  const store = new WrittenRecord();
  const group = { metadata: { name: 'red', uid: 'red' }, spec: { minMember: 2 } };
  store.add(groups, 'default/red', group);
  store.add('pods', 'default/r0', memberOf('red', { name: 'r0', node: 'a' }));
  const before = store.version;
  store.add('pods', 'default/r1', memberOf('red', { name: 'r1', node: 'a' }));
  const start = store.version;
  store.remove('pods', 'default/r1');
  const starts = new ReceivedStarts(store.record);
  const isMissed = (): boolean => starts.areMissed(groupNamed(store.record, 'red')!);
  const process = { role: 'scheduler', isAlive: true };
  const received: Call['received'][number][] = [];
  const receive = (version: number): void => {
    received.push(viewAt(version));
    starts.sent({ process, received } as unknown as Call);
  };
  receive(before);
  receive(store.version);
  expect(isMissed()).toBe(true);
  process.isAlive = false;
  expect(isMissed()).toBe(false);
  process.isAlive = true;
  receive(start);
  expect(isMissed()).toBe(false);
  receive(store.version);
  expect(isMissed()).toBe(false);
  const late = new ReceivedStarts(store.record);
  late.sent({ process, received: [viewAt(before)] } as unknown as Call);
  expect(late.areMissed(groupNamed(store.record, 'red')!)).toBe(true);
  const conditions = [{ type: 'Started', status: 'True' }];
  store.change(groups, 'default/red', { ...group, status: { conditions } });
  expect(late.areMissed(groupNamed(store.record, 'red')!)).toBe(false);
});

it('a PodGroup of Kubernetes itself shows only the first start, so a later one is missed if all members were bound after it', () => {
  const missed = ['2026-01-01T00:00:05Z', '2026-01-01T00:00:04Z'].map((boundAt) => {
    const store = new WrittenRecord();
    const status = 'True';
    const conditions = [{ type: 'PodGroupInitiallyScheduled', status, lastTransitionTime: '2026-01-01T00:00:04Z' }];
    store.add('podgroups.scheduling.k8s.io', 'default/red', {
      metadata: { name: 'red', uid: 'red' },
      spec: { schedulingPolicy: { gang: { minCount: 2 } } },
      status: { conditions },
    });
    const member: any = nativeMemberOf('red', { name: 'r0', node: 'a' });
    const scheduled = { type: 'PodScheduled', status, lastTransitionTime: boundAt };
    store.add('pods', 'default/r0', { ...member, status: { ...member.status, conditions: [scheduled] } });
    const starts = new ReceivedStarts(store.record);
    const process = { role: 'scheduler', isAlive: true };
    starts.sent({ process, received: [viewAt(store.version)] } as unknown as Call);
    return starts.areMissed(groupNamed(store.record, 'native:red')!);
  });
  expect(missed).toEqual([true, false]);
});
