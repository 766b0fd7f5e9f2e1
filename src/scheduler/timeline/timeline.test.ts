import { describe, expect, it } from 'vitest';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { PreemptionStory } from '../testing/preemption-story.ts';
import { timelineLines, transitionsOf } from '../testing/timeline-lines.ts';
import { TurnStory } from '../testing/turn-story.ts';
import { ringCapacity } from './transition-ring.ts';

const red = 'gang/default/red';

function running(phase: 'listing' | 'running' = 'running'): Scheduling {
  return new Scheduling({ plugins: defaultPlugins }, phase);
}

/** Runs all attempts, accepts all Bindings, and shows the pods bound. */
async function runAll(core: Scheduling): Promise<void> {
  while ((await core.attempt()) !== undefined);
  while (core.binds.length > 0) {
    const { name, nodeName } = core.binds[0]!.binding;
    await core.accept(name);
    core.change(name, { nodeName });
  }
  await core.settle();
}

/** Gang red of `members` is bound on node a. */
async function started(members = 2): Promise<Scheduling> {
  const core = running();
  core.node({ name: 'a', cpu: 8 });
  core.group({ name: 'red', minMember: members });
  core.members(members, { group: 'red', cpu: 1 });
  await runAll(core);
  return core;
}

describe('a group', () => {
  it('is recorded from its first member to its start, with one entry for equal transitions', async () => {
    const core = running();
    core.node({ name: 'a', cpu: 8 });
    core.group({ name: 'red', minMember: 3 });
    core.members(3, { group: 'red', cpu: 1 });
    await runAll(core);
    expect(timelineLines(core, red)).toEqual([
      'Added NotReady 0/3 ×3',
      'Ready Waiting 0/3',
      'Planned Starting 0/3 on a',
      'Bound Partial 2/3 ×2 on a',
      'Started Running 3/3 on a',
    ]);
  });

  it('is recorded without a PodGroup, and once there is one', () => {
    const core = running();
    core.pod({ name: 'red-0', group: 'red' });
    core.group({ name: 'red', minMember: 1 });
    expect(timelineLines(core, red)).toEqual(['Added NotReady 0/?', 'Ready Waiting 0/1']);
  });

  it('counts equal rejections in one entry, with the first and the last time', async () => {
    const core = running();
    core.node({ name: 'a', cpu: 1 });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    const { clock } = core.harness;
    let first = 0;
    for (let i = 0; i < 50; i++) {
      await core.attempt();
      if (i === 0) first = clock.now();
      clock.advance(10_000);
      core.queue.activate(core.harness.cluster.pod('red-0')!);
    }
    const [rejected] = transitionsOf(core, red).slice(-1);
    expect(rejected).toMatchObject({ kind: 'Rejected', state: 'Waiting', waitsFor: 'never', count: 50, time: first });
    expect(rejected!.until).toBe(first + 49 * 10_000);
    expect(rejected!.reason).toMatch(/cpu/);
    expect(rejected!.reason!.length).toBeLessThanOrEqual(80);
    expect(timelineLines(core, red)).toHaveLength(3);
  });

  it('whose planned members are not bound after all was never partially bound', async () => {
    const core = running();
    core.node({ name: 'a', cpu: 8 });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    await core.reject('red-0', 'read back: not bound');
    await core.reject('red-1', 'read back: not bound');
    const lines = timelineLines(core, red);
    expect(lines.slice(2)).toEqual([
      'Planned Starting 0/2 on a',
      'BindingFailed Starting 0/2',
      'Reserved Starting 0/2 on a',
      'BindingFailed Waiting 0/2',
      'ReservationEnded Waiting 0/2 on a',
    ]);
    expect(transitionsOf(core, red)[3]!.reason).toContain('read back: not bound');
    expect(lines.join()).not.toContain('Partial');
  });

  it('is partially bound exactly while the API shows it, and repaired when the missing member is bound', async () => {
    const core = running();
    core.node({ name: 'a', cpu: 8 });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    await core.accept('red-0');
    expect(timelineLines(core, red).at(-1)).toBe('Planned Starting 0/2 on a');
    core.change('red-0', { nodeName: 'a', plannedGroupUid: 'red' });
    await core.reject('red-1', 'refused');
    core.harness.clock.advance(20_000);
    await runAll(core);
    expect(timelineLines(core, red).slice(3)).toEqual([
      'Bound Partial 1/2 on a',
      'BindingFailed Partial 1/2',
      'Reserved Partial 1/2 on a',
      'Planned Partial 1/2 on a',
      'Started Running 2/2 on a',
    ]);
  });

  it('loses members, has capacity reserved for them, and is repaired', async () => {
    const core = await started();
    core.harness.clock.advance(60_000);
    core.removePod('red-1');
    core.pod({ name: 'red-2', group: 'red', cpu: 1 });
    await runAll(core);
    expect(timelineLines(core, red).slice(5)).toEqual([
      'Lost Degraded 1/2 on a',
      'Reserved Degraded 1/2 on a',
      'Added Degraded 1/2',
      'Planned Degraded 1/2 on a',
      'Repaired Running 2/2 on a',
      'ReservationEnded Running 2/2 on a',
    ]);
  });

  it('finishes when enough members have succeeded, and is gone with its last object', async () => {
    const core = await started();
    core.change('red-0', { phase: 'Succeeded' });
    core.change('red-1', { phase: 'Succeeded' });
    core.removePod('red-0');
    core.removePod('red-1');
    core.removeGroup('default/red');
    expect(timelineLines(core, red).slice(5)).toEqual([
      'Succeeded Running 1/2',
      'Succeeded Finished 0/2',
      'Removed Finished 0/2',
      'Removed NotReady 0/2',
      'Removed Gone',
    ]);
  });

  it('fails when its members fail', async () => {
    const core = await started();
    core.change('red-0', { phase: 'Failed' });
    core.change('red-1', { phase: 'Failed', failedBecause: 'OutOfcpu' });
    const lost = transitionsOf(core, red).filter(({ kind }) => kind === 'Lost');
    expect(lost).toMatchObject([
      { state: 'Degraded', reason: 'failed' },
      { state: 'Failed', reason: 'OutOfcpu' },
    ]);
  });

  it('shows members that are being deleted', async () => {
    const core = await started();
    core.change('red-0', { deleting: true });
    expect(timelineLines(core, red).at(-1)).toBe('Terminating Degraded 1/2');
    core.removePod('red-0');
    expect(timelineLines(core, red).at(-2)).toBe('Removed Degraded 1/2');
  });

  it('shows a change of its minMember, and of gates of its members', () => {
    const core = running();
    core.node({ name: 'a', cpu: 8 });
    core.group({ name: 'red', minMember: 3 });
    core.members(2, { group: 'red', cpu: 1, gates: ['quota'] });
    core.change('red-0', { schedulingGates: [] });
    core.change('red-1', { schedulingGates: [] });
    core.group({ name: 'red', minMember: 2 });
    core.group({ name: 'red', minMember: 4 });
    expect(timelineLines(core, red)).toEqual(['Added NotReady 0/3 ×3', 'Ready Waiting 0/2', 'Changed NotReady 0/4']);
  });

  it('that cannot be completed is released', async () => {
    const core = running('listing');
    core.node({ name: 'a', cpu: 1 });
    core.group({ name: 'red', minMember: 2, repairGraceSeconds: 5, status: { conditions: [notStarted] } });
    core.pod({ name: 'red-0', group: 'red', cpu: 1, nodeName: 'a', owner: 'job' });
    core.pod({ name: 'red-1', group: 'red', cpu: 1, owner: 'job' });
    core.start();
    for (let i = 0; i < 10; i++) {
      core.harness.clock.advance(1_000);
      while ((await core.attempt()) !== undefined);
    }
    expect(timelineLines(core, red)).toContain('Released Partial 1/2');
  });

  it('names the entity for which its pods are evicted', async () => {
    const story = new PreemptionStory();
    story.node('a', 1);
    story.pod('old', { nodeName: 'a' });
    story.pod('high', { priority: 1000 });
    await story.run();
    const { uid: old } = story.stored('old')!;
    const { uid: high } = story.stored('high')!;
    expect(timelineLines(story.core, `pod/${old}`)).toEqual([
      'Bound Running on a',
      'Terminating Running',
      `Preempted Running on a by pod/${high}`,
    ]);
    expect(timelineLines(story.core, `pod/${high}`)).toEqual([
      'Added Waiting',
      'Reserved Waiting on a',
      expect.stringMatching(/^Rejected Waiting/),
    ]);
  });

  it('shows the capacity that is reserved until its turn', async () => {
    const story = new TurnStory({ reserveAfterMs: 0 });
    story.node('a', 2);
    story.pod('small', { runtime: '100s', nodeName: 'a' });
    story.gang('red', 2);
    await story.after(60);
    const reserved = transitionsOf(story.queueing, red).find(({ kind }) => kind === 'Reserved');
    expect(reserved).toMatchObject({ state: 'Waiting', reason: 'backfill', node: 'a', count: 2 });
  });
});

describe('a pod without a group', () => {
  it('is recorded from its creation to its end', async () => {
    const core = running();
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'lone', cpu: 1 });
    await runAll(core);
    core.change('lone', { phase: 'Succeeded' });
    core.removePod('lone');
    expect(timelineLines(core, 'pod/lone')).toEqual([
      'Added Waiting',
      'Planned Starting on a',
      'Bound Running on a',
      'Succeeded Finished',
      'Removed Gone',
    ]);
  });

  it('waits for gates, fails, and is bound in vain', async () => {
    const core = running();
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'lone', cpu: 1, gates: ['quota'] });
    core.change('lone', { schedulingGates: [] });
    await core.attempt();
    await core.reject('lone', 'refused');
    core.change('lone', { phase: 'Failed', failedBecause: 'Evicted' });
    expect(timelineLines(core, 'pod/lone')).toEqual([
      'Added NotReady',
      'Ready Waiting',
      'Planned Starting on a',
      'BindingFailed Waiting',
      'Failed Failed',
    ]);
  });

  it('counts equal rejections in one entry, until something else happens to it', async () => {
    const core = running();
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'lone', cpu: 2 });
    const rejected = async (times: number): Promise<void> => {
      for (let i = 0; i < times; i++) {
        await core.attempt();
        core.harness.clock.advance(10_000);
        core.queue.activate(core.harness.cluster.pod('lone')!);
      }
    };
    await rejected(3);
    core.node({ name: 'b', cpu: 2 });
    await core.attempt();
    await core.reject('lone', 'refused');
    core.removeNode('b');
    core.harness.clock.advance(20_000);
    await rejected(2);
    expect(timelineLines(core, 'pod/lone')).toEqual([
      'Added Waiting',
      'Rejected Waiting ×3 never',
      'Planned Starting on b',
      'BindingFailed Waiting',
      'Rejected Waiting ×2 never',
    ]);
  });

  it('leaves its lane when it becomes a member of a group, and comes back to it', async () => {
    const core = running();
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'lone', cpu: 2 });
    await core.attempt();
    core.change('lone', { podGroupKey: 'default/red' });
    const { timeline } = core.harness.core;
    expect([...timeline.snapshot().entities]).toEqual([
      expect.objectContaining({ key: red, state: 'NotReady' }),
      expect.objectContaining({ key: 'pod/lone', state: 'Gone', subject: expect.objectContaining({ name: 'lone' }) }),
    ]);
    core.change('lone', { podGroupKey: undefined });
    await core.attempt();
    expect(timelineLines(core, red)).toEqual(['Added NotReady 0/?', 'Removed Gone']);
    expect(timelineLines(core, 'pod/lone')).toEqual([
      'Added Waiting',
      'Rejected Waiting never',
      'Removed Gone',
      'Added Waiting',
      'Rejected Waiting never',
    ]);
    expect([...timeline.snapshot().entities].map(({ key, state }) => `${key} ${state}`)).toEqual([
      'pod/lone Waiting',
      `${red} Gone`,
    ]);
  });

  it('of another scheduler is not recorded, but takes its part of its node', () => {
    const core = running();
    core.node({ name: 'a', cpu: 4, memory: '8Gi' });
    core.pod({ name: 'foreign', cpu: 1, schedulerName: 'other', nodeName: 'a' });
    core.pod({ name: 'own', cpu: 2, nodeName: 'a' });
    expect(timelineLines(core, 'pod/foreign')).toEqual([]);
    const [node] = core.harness.core.timeline.snapshot().nodes;
    expect(node).toMatchObject({
      name: 'a',
      state: 'Ready',
      scarcest: 'cpu',
      resources: { cpu: { allocatable: 4, used: 3, reserved: 0 } },
      shares: [
        { entity: 'pod/own', used: 0.5, reserved: 0 },
        { used: 0.25, reserved: 0 },
      ],
    });
  });
});

describe('the record', () => {
  it('starts empty with each leader, which takes over the states', async () => {
    const core = running('listing');
    core.node({ name: 'a', cpu: 4 });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1, nodeName: 'a' });
    const before = core.harness.core.timeline.snapshot();
    expect(before).toMatchObject({ epoch: 'standby', isLeading: false, sequence: 0 });
    core.start();
    const { clock } = core.harness;
    const snapshot = core.harness.core.timeline.snapshot();
    expect(snapshot).toMatchObject({ isLeading: true, sequence: 0, heldSince: clock.now() });
    expect(snapshot.epoch).not.toBe(before.epoch);
    expect([...snapshot.transitions]).toEqual([]);
    expect([...snapshot.entities]).toEqual([expect.objectContaining({ key: red, state: 'Running' })]);
  });

  it('holds the latest transitions only, and says since when', () => {
    const core = running();
    const { clock, core: scheduler } = core.harness;
    const pods = ringCapacity / 2 + 10;
    for (let i = 0; i < pods; i++) {
      clock.advance(1);
      core.pod({ name: `p-${i}`, gates: ['quota'] });
      core.removePod(`p-${i}`);
    }
    const snapshot = scheduler.timeline.snapshot();
    const transitions = [...snapshot.transitions];
    expect(transitions).toHaveLength(ringCapacity);
    expect(snapshot.heldSince).toBe(transitions[0]!.time - 1);
    expect(scheduler.timeline.holds({ epoch: snapshot.epoch, sequence: 20 })).toBe(true);
    expect(scheduler.timeline.holds({ epoch: snapshot.epoch, sequence: 19 })).toBe(false);
    expect([...snapshot.entities]).toHaveLength(ringCapacity / 2);
  });
});

const notStarted = {
  type: 'Started',
  status: 'False',
  reason: 'x',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
} as const;
