import { beforeEach, describe, expect, it } from 'vitest';
import { Status } from '../../framework/status.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Queueing } from '../../testkit/queueing.ts';

let scheduler: Queueing;

beforeEach(() => {
  scheduler = new Queueing({ plugins: defaultPlugins });
});

/** `names: message` per group of verdicts with the same time and message, in order, without the default namespace. */
function reported(): string[] {
  /** time and message -> names */
  const groups = new Map<string, string[]>();
  for (const { name, verdict, since } of scheduler.harness.written) {
    expect(verdict.reason).toBe('WaitingForGang');
    const key = `${since}: ${verdict.message.replaceAll('default/', '')}`;
    groups.set(key, [...(groups.get(key) ?? []), name]);
  }
  return [...groups].map(([key, names]) => `${names.join(' ')}${key.slice(key.indexOf(':'))}`);
}

function advance(ms: number): void {
  scheduler.harness.clock.advance(ms);
}

describe('a group that is not ready', () => {
  it('gets its verdict when it has not grown for a second', () => {
    scheduler.group({ name: 'red', minMember: 3 });
    scheduler.members(1, { group: 'red' });
    advance(900);
    scheduler.pod({ name: 'red-1', group: 'red' });
    advance(999);
    expect(reported()).toEqual([]);
    advance(1);
    expect(reported()).toEqual(['red-0 red-1: PodGroup red has 2 of the 3 members it needs to start.']);
    expect(scheduler.harness.clock.untilNextTimer()).toBeGreaterThan(10_000);
  });

  it('gets its verdict after 5 s while it keeps growing, and another one later', () => {
    scheduler.group({ name: 'red', minMember: 100 });
    for (let member = 0; member < 20; member++) {
      scheduler.pod({ name: `red-${member}`, group: 'red' });
      advance(300);
    }
    expect(reported()).toHaveLength(1);
    expect(reported()[0]).toContain('has 17 of the 100 members');
    advance(1_000);
    expect(reported()).toHaveLength(2);
    expect(reported()[1]).toContain('has 20 of the 100 members');
  });

  it('shows its growth on its first member at once, and on the others once a minute', async () => {
    const { clock, written } = scheduler.harness;
    scheduler.group({ name: 'red', minMember: 30 });
    const reported = new Map<string, number>();
    for (let member = 0; member < 20; member++) {
      scheduler.pod({ name: `red-${member}`, group: 'red' });
      clock.advance(2_000);
      await new Promise((resolve) => setImmediate(resolve));
      expect(written.at(-1)!.verdict.message).toContain(`has ${member + 1} of the 30`);
    }
    for (const { name } of written) reported.set(name, (reported.get(name) ?? 0) + 1);
    expect([...reported.values()].filter((times) => times > 1)).toHaveLength(1);
    expect(written.length).toBeLessThan(60);
    clock.advance(60_000);
    await new Promise((resolve) => setImmediate(resolve));
    const last = new Map(written.map(({ name, verdict }) => [name, verdict.message]));
    expect([last.size, new Set(last.values()).size]).toEqual([20, 1]);
  });

  it('gets no verdict if it becomes ready in time', () => {
    scheduler.group({ name: 'red', minMember: 2 });
    scheduler.members(1, { group: 'red' });
    advance(999);
    scheduler.pod({ name: 'red-1', group: 'red' });
    advance(10_000);
    expect(reported()).toEqual([]);
  });

  it('has its own timing, independent of other groups', () => {
    for (const name of ['red', 'blue', 'green']) scheduler.group({ name, minMember: 2 });
    scheduler.pod({ name: 'red-0', group: 'red' });
    advance(500);
    scheduler.pod({ name: 'blue-0', group: 'blue' });
    advance(499);
    scheduler.pod({ name: 'green-0', group: 'green' });
    advance(1);
    expect(reported()).toEqual([expect.stringContaining('PodGroup red')]);
    scheduler.pod({ name: 'green-1', group: 'green' });
    advance(500);
    expect(reported()).toEqual([expect.anything(), expect.stringContaining('PodGroup blue')]);
    advance(10_000);
    expect(reported()).toHaveLength(2);
  });

  it('is only delayed by changes of its size or its reason', () => {
    scheduler.group({ name: 'red', minMember: 3 });
    scheduler.members(2, { group: 'red' });
    for (let change = 1; change <= 4; change++) {
      advance(250);
      scheduler.change('red-0', { resourceVersion: `changed-${change}` });
    }
    expect(reported()).toHaveLength(1);
  });

  it('is delayed again when its reason changes', () => {
    scheduler.members(2, { group: 'red' });
    advance(300);
    scheduler.group({ name: 'red', minMember: 3 });
    advance(999);
    expect(reported()).toEqual([]);
    advance(1);
    expect(reported()).toEqual(['red-0 red-1: PodGroup red has 2 of the 3 members it needs to start.']);
  });

  it('reports to new members even if the reason stays the same', () => {
    scheduler.members(1, { group: 'red' });
    advance(300);
    scheduler.pod({ name: 'red-1', group: 'red' });
    advance(1_000);
    scheduler.pod({ name: 'red-2', group: 'red' });
    advance(1_000);
    expect(reported().map((verdict) => verdict.split(':')[0])).toEqual(['red-0 red-1', 'red-2']);
  });

  it('is forgotten when it is deleted; a group of the same name starts over', () => {
    scheduler.members(1, { group: 'red' });
    advance(900);
    scheduler.removePod('red-0');
    scheduler.pod({ name: 'red-1', group: 'red' });
    advance(999);
    expect(reported()).toEqual([]);
    advance(1);
    expect(reported()).toEqual([expect.stringMatching(/^red-1: /)]);
  });

  it('reports only to members with our schedulerName', () => {
    scheduler.group({ name: 'red', minMember: 3 });
    scheduler.members(1, { group: 'red' });
    scheduler.pod({ name: 'other-0', group: 'red', schedulerName: 'other' });
    advance(1_000);
    expect(reported()).toEqual([expect.stringMatching(/^red-0: members of PodGroup red name different schedulers/)]);
  });
});

describe('waitsFor', () => {
  it('is gates if only scheduling gates are missing, otherwise members', () => {
    for (const name of ['red', 'blue']) {
      scheduler.group({ name, minMember: 2 });
      scheduler.pod({ name: `${name}-0`, group: name });
    }
    scheduler.pod({ name: 'blue-1', group: 'blue', gates: ['quota'] });
    advance(1_000);
    expect(scheduler.harness.written.map(({ name, verdict }) => [name, verdict.waitsFor])).toEqual([
      ['red-0', 'members'],
      ['blue-0', 'gates'],
    ]);
  });
});

it('a pod without a group behind scheduling gates gets no verdict', () => {
  scheduler.pod({ name: 'a', gates: ['wait'] });
  expect(scheduler.states()).toEqual({ 'pod/a': 'gated' });
  advance(60_000);
  expect(reported()).toEqual([]);
});

it('a member of a started or basic group gets no verdict for scheduling gates of its own', () => {
  scheduler.node({ name: 'n' });
  scheduler.group({ name: 'red', minMember: 1 });
  scheduler.pod({ name: 'red-0', group: 'red', nodeName: 'n' });
  scheduler.pod({ name: 'red-1', group: 'red', gates: ['wait'] });
  scheduler.nativeGroup({ name: 'basic' });
  scheduler.pod({ name: 'basic-0', schedulingGroup: 'basic', gates: ['wait'] });
  expect(scheduler.states()).toEqual({ 'pod/red-1': 'gated', 'pod/basic-0': 'gated' });
  advance(60_000);
  expect(reported()).toEqual([]);
});

it('a group that does not fit and was not ready in between gets its verdict again with its next attempt', async () => {
  let isShut = false;
  const preEnqueue = (): Status | undefined => (isShut ? new Status('Unschedulable', 'the gate is shut') : undefined);
  const gate = { name: 'Gate', preEnqueue };
  scheduler = new Queueing({ plugins: defaultPlugins, extra: [gate] });
  scheduler.node({ name: 'a', allocatable: { cpu: 1 } });
  scheduler.group({ name: 'red', minMember: 2 });
  scheduler.members(2, { group: 'red', requests: { cpu: 1 } });
  /** Changes a pod, tries what is ready and returns the latest verdict of the other one. */
  const next = async (change: string): Promise<string> => {
    scheduler.change('red-0', { labels: { change } });
    while (scheduler.harness.core.attempt(Infinity) !== undefined);
    await new Promise((resolve) => setImmediate(resolve));
    advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
    return scheduler.harness.written.filter(({ name }) => name === 'red-1').at(-1)!.verdict.reason;
  };
  expect(await next('none')).toBe('Unschedulable');
  isShut = true;
  expect(await next('shut')).toBe('WaitingForGang');
  isShut = false;
  expect(await next('open')).toBe('Unschedulable');
});
