import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Condition } from '../../api/condition.ts';
import { initiallyScheduled } from '../../api/native-pod-group.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { ConflictError, NotFoundError, ServerError } from '../../client/api-errors.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { projectMemberPod } from '../member-pod.ts';
import type { MemberPod } from '../member-pod.ts';
import { NativeApi } from './testing/native-api.ts';

const key = 'scheduling.k8s.io/default/red';
const startedAt = Date.UTC(2026, 5);
const build = new Builders();
let api: NativeApi;

beforeEach(async () => {
  api = new NativeApi(new VirtualClock(startedAt));
  api.setGroup(build.projectedNativePodGroup({ name: 'red', uid: 'red-uid', minCount: 2 }));
  await api.start();
});

afterEach(() => api.stop());

const bound = { nodeName: 'a' };
const rejected = (message: string): PodOptions => ({
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
});

function pod(name: string, options: PodOptions = {}): MemberPod {
  return projectMemberPod(build.pod({ name, uid: name, schedulerName: 'tutti', schedulingGroup: 'red', ...options }));
}

function setAll(options: PodOptions): void {
  api.setPods(pod('red-0', options), pod('red-1', options));
}

function writeAsOther(condition: Partial<Condition>): void {
  const other = { type: initiallyScheduled, status: 'False', reason: 'Other', message: '', ...condition } as Condition;
  api.setGroup({ ...api.group(key)!, scheduled: { ...other, lastTransitionTime: '2026-01-01T00:00:00Z' } });
}

const written = (): readonly string[] =>
  api.writes.map(({ condition: { status, message } }) => `${status} ${message}`.trim());

describe('The condition PodGroupInitiallyScheduled', () => {
  it('is written once the quorum is bound, with the generation', async () => {
    setAll({});
    await api.pass();
    expect(api.writes).toEqual([]);
    setAll(bound);
    await api.pass();
    expect(api.writes).toEqual([
      {
        key,
        condition: {
          type: initiallyScheduled,
          status: 'True',
          reason: 'Scheduled',
          message: '',
          lastTransitionTime: '2026-06-01T00:00:00Z',
          observedGeneration: 1,
        },
        of: ['tutti', 'tutti'],
      },
    ]);
  });

  it('follows the verdict of the members, and keeps the time of its last transition', async () => {
    setAll(rejected('full'));
    await api.pass();
    api.clock.advance(60_000);
    setAll(rejected('still full'));
    await api.pass();
    expect(written()).toEqual(['False full', 'False still full']);
    const [first, second] = api.writes;
    expect(second!.condition.lastTransitionTime).toBe(first!.condition.lastTransitionTime);
    setAll(bound);
    await api.pass();
    expect(api.writes[2]!.condition).toMatchObject({ status: 'True', lastTransitionTime: '2026-06-01T00:01:00Z' });
  });

  it('is True from no earlier than the last Binding, whatever the clock of the controller says', async () => {
    const lastTransitionTime = '2026-06-01T00:00:09Z';
    setAll({ ...bound, conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime }] });
    await api.pass();
    expect(api.writes[0]!.condition).toMatchObject({ status: 'True', lastTransitionTime });
  });

  it('stays when the members only wait again', async () => {
    setAll(rejected('full'));
    await api.pass();
    api.setPods(pod('red-0'));
    api.deletePod('red-1');
    await api.pass();
    expect(written()).toEqual(['False full']);
  });

  it('is False once a gang stays partially bound, so that the next scheduler may release it', async () => {
    const lastTransitionTime = '2026-06-01T00:00:00Z';
    api.setPods(pod('red-0', { ...bound, conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime }] }));
    for (let second = 0; second < 9; second++) await api.pass(1_000);
    expect(written()).toEqual([]);
    for (let second = 0; second < 9; second++) await api.pass(1_000);
    expect(written()).toEqual(['False 1 of the 2 pods that it needs are bound']);
    api.setPods(pod('red-1', bound));
    await api.pass();
    expect(written().slice(1)).toEqual(['True']);
  });

  it('stays True whatever happens to the members, also after a restart', async () => {
    setAll(bound);
    await api.pass();
    for (const change of [rejected('full'), { phase: 'Failed' }, bound] as const) {
      setAll(change);
      await api.pass();
      await api.start();
      await api.pass();
    }
    api.setGroup({ ...api.group(key)!, minCount: 9, generation: 2 });
    await api.pass();
    expect(written()).toEqual(['True']);
  });

  it('is not taken back if another component has set it to True', async () => {
    writeAsOther({ status: 'True', reason: 'Scheduled' });
    setAll(rejected('full'));
    await api.pass();
    expect(api.writes).toEqual([]);
  });

  it('is not taken back if another component sets it to True just before the write', async () => {
    setAll(rejected('full'));
    api.deliverPods();
    writeAsOther({ status: 'True', reason: 'Scheduled' });
    await api.wait(100);
    await api.pass(1_000);
    expect(api.writes).toEqual([]);
    expect(api.group(key)!.scheduled).toMatchObject({ status: 'True' });
  });

  it('is written once although another component replaces it a thousand times', async () => {
    setAll(rejected('full'));
    await api.pass();
    for (let i = 0; i < 1_000; i++) {
      writeAsOther({ message: `reason ${i}` });
      await api.pass();
    }
    expect(written()).toEqual(['False full']);
    setAll(bound);
    await api.pass();
    expect(written()).toEqual(['False full', 'True']);
  });

  it('is written once over a thousand changes of the members that do not concern it', async () => {
    setAll(rejected('full'));
    for (let i = 0; i < 1_000; i++) {
      api.setPods(pod('red-0', { ...rejected('full'), annotations: { step: String(i) } }));
      await api.pass();
    }
    expect(written()).toEqual(['False full']);
  });

  it('is not written if it already says so', async () => {
    writeAsOther({ reason: 'Unschedulable', message: 'full', observedGeneration: 1 });
    setAll(rejected('full'));
    await api.pass();
    expect(api.writes).toEqual([]);
  });

  it('is that of the new group if a group of the same name is created', async () => {
    setAll(rejected('full'));
    await api.pass();
    api.setGroup(build.projectedNativePodGroup({ name: 'red', uid: 'next-uid', minCount: 2 }));
    await api.pass();
    expect(written()).toEqual(['False full', 'False full']);
  });
});

it('writes nothing while one pod of the group has another schedulerName', async () => {
  api.setPods(pod('red-0', bound), pod('red-1', bound), pod('red-2', { schedulerName: 'default-scheduler' }));
  await api.pass();
  expect(api.writes).toEqual([]);
  api.deletePod('red-2');
  await api.pass();
  expect(written()).toEqual(['True']);
});

it('reconciles no group while the pods are listed again', async () => {
  setAll(bound);
  api.controller.memberHandler.onListing!();
  await api.pass();
  expect(api.writes).toEqual([]);
  api.controller.memberHandler.onReplaced!();
  await api.pass();
  expect(written()).toEqual(['True']);
});

it('repeats a failed write, and counts each result', async () => {
  setAll(bound);
  const details = { status: 503, reason: '', request: 'PATCH', causes: [] };
  api.failures.push(new ServerError('overloaded', details), new ConflictError('changed', { ...details, status: 409 }));
  await api.pass();
  await api.wait(1_000);
  await api.wait(1_000);
  expect(written()).toEqual(['True']);
  const metrics = await api.registry.metrics();
  for (const result of ['error', 'conflict', 'patched']) {
    expect(metrics).toContain(`tutti_podgroup_reconciles_total{result="${result}"} 1`);
  }
});

it('writes what it has missed once the API server serves the kind again', async () => {
  api.isServed = false;
  setAll(bound);
  await api.pass();
  expect(api.writes).toEqual([]);
  api.isServed = true;
  api.controller.groupHandler.onReplaced!();
  await api.wait(100);
  expect(written()).toEqual(['True']);
});

it('repeats a write that fails because the kind has moved to another version', async () => {
  setAll(bound);
  api.failures.push(new NotFoundError('no such path', { status: 404, reason: '', request: 'PATCH', causes: [] }));
  await api.pass();
  expect(api.writes).toEqual([]);
  await api.wait(1_000);
  expect(written()).toEqual(['True']);
});
