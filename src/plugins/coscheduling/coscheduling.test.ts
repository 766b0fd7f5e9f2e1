import { describe, expect, it } from 'vitest';
import { Builders } from '../../testkit/builders/builders.ts';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';
import type { PodGroupOptions } from '../../testkit/builders/pod-group.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { planAnnotations } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { ClusterEvent } from '../../framework/cluster-event.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import { gangSpecOf } from '../../scheduler/intake/pod-group-adapter.ts';
import { Coscheduling } from './coscheduling.ts';
import { readiness } from './readiness.ts';

class Fixture {
  readonly build = new Builders();
  readonly handle = pluginHandle(this.build);
  readonly plugin: Coscheduling;

  constructor(args?: object) {
    this.plugin = new Coscheduling(args, this.handle);
  }

  group(options: PodGroupOptions): GangView {
    const spec = gangSpecOf(this.build.projectedPodGroup(options), this.build.resources);
    this.handle.cluster.setGang(spec);
    return this.handle.cluster.gang(spec.key)!;
  }

  pods(count: number, options: PodOptions): Pod[] {
    const pods = this.build.projectedPods(count, options);
    for (const pod of pods) this.handle.cluster.setPod(pod);
    return pods;
  }

  /** Runs the plugin's hints, as the queue does. */
  mayHelp(pod: Pod, event: ClusterEvent): boolean {
    return this.plugin
      .eventsToRegister()
      .filter(({ resource, actions }) => resource === event.resource && actions.includes(event.action))
      .some(({ hint }) => hint === undefined || hint(pod, event));
  }
}

describe('a gang', () => {
  it.each(['Red_1', 'a b', 'x'.repeat(254), '\u001b[2J'])('can never exist with the name %j', (name) => {
    const fixture = new Fixture();
    const [pod] = fixture.pods(1, { groupAnnotation: name });
    const gang = fixture.handle.cluster.gang(pod!.podGroupKey!)!;
    const { message } = readiness(gang, 'default-scheduler')!;
    expect(message).toMatch(/^PodGroup default\/.* cannot exist, because its name is not valid; correct the label/);
    expect(fixture.plugin.preFilter(new CycleState(), pod!)!.message).toBe(message);
  });

  it('is ready when its PodGroup exists and enough members that can run exist for the quorum', () => {
    const fixture = new Fixture();
    fixture.pods(2, { group: 'red' });
    const gang = fixture.handle.cluster.gang('default/red')!;
    expect(readiness(gang, 'default-scheduler')!.message).toBe(
      'PodGroup default/red does not exist; the pod starts when it is created',
    );
    fixture.group({ name: 'red', minMember: 3 });
    expect(readiness(gang, 'default-scheduler')!.message).toBe(
      'PodGroup default/red has 2 of the 3 members it needs to start',
    );
    fixture.pods(1, { name: 'bound', group: 'red', nodeName: 'a' });
    expect(readiness(gang, 'default-scheduler')).toBeUndefined();
  });

  it('does not count failed or terminating members', () => {
    const fixture = new Fixture();
    const gang = fixture.group({ name: 'red', minMember: 2 });
    fixture.pods(1, { group: 'red' });
    fixture.pods(1, { name: 'failed', group: 'red', nodeName: 'a', phase: 'Failed' });
    fixture.pods(1, { name: 'leaving', group: 'red', deleting: true });
    expect(readiness(gang, 'default-scheduler')!.message).toMatch(/has 1 of the 2 members/);
  });

  it('counts succeeded members only once it has started', () => {
    const fixture = new Fixture();
    const gang = fixture.group({ name: 'red', minMember: 2 });
    fixture.pods(1, { group: 'red' });
    const [done] = fixture.pods(1, { name: 'done', group: 'red', nodeName: 'a', phase: 'Succeeded' });
    expect(readiness(gang, 'default-scheduler')!.message).toMatch(/has 1 of the 2 members/);
    fixture.handle.cluster.setPod({ ...done!, phase: 'Running' });
    fixture.pods(1, { name: 'other', group: 'red', nodeName: 'a' });
    expect(gang.started).toBe(true);
    fixture.handle.cluster.setPod(done!);
    expect(readiness(gang, 'default-scheduler')).toBeUndefined();
  });

  it('is rejected when members name different schedulers, with their names', () => {
    const fixture = new Fixture();
    const gang = fixture.group({ name: 'red', minMember: 2 });
    fixture.pods(2, { group: 'red' });
    fixture.pods(1, { name: 'foreign', group: 'red', schedulerName: 'other' });
    expect(readiness(gang, 'default-scheduler')!.message).toBe(
      'members of PodGroup default/red name different schedulers (default-scheduler, other); ' +
        'set the same spec.schedulerName for all of them',
    );
  });

  it('accepts members that another scheduler has bound', () => {
    const fixture = new Fixture();
    const gang = fixture.group({ name: 'red', minMember: 2 });
    fixture.pods(1, { group: 'red' });
    fixture.pods(1, { name: 'foreign', group: 'red', schedulerName: 'other', nodeName: 'a' });
    expect(readiness(gang, 'default-scheduler')).toBeUndefined();
  });

  it('is checked as a whole at PreEnqueue; single pods pass', () => {
    const fixture = new Fixture();
    const gang = fixture.group({ name: 'red', minMember: 2 });
    const [pod] = fixture.pods(1, { group: 'red' });
    expect(fixture.plugin.preEnqueue({ kind: 'gang', gang })).toBeDefined();
    expect(fixture.plugin.preEnqueue({ kind: 'pod', pod: pod! })).toBeUndefined();
  });
});

describe('Permit', () => {
  it('makes members wait until the last one of the quorum arrives, which allows all', () => {
    const fixture = new Fixture();
    fixture.group({ name: 'red', minMember: 3 });
    const [a, b, c] = fixture.pods(3, { group: 'red' });
    const group = new CycleState();
    const { waitingPods } = fixture.handle;
    for (const pod of [a!, b!]) {
      const result = fixture.plugin.permit(new CycleState(group), pod);
      expect(result).toEqual({ waitMs: 60_000 });
      waitingPods.add(pod, 'n', new Map([['Coscheduling', 60_000]]));
    }
    expect(fixture.plugin.permit(new CycleState(group), c!)).toBeUndefined();
    expect(waitingPods.size).toBe(0);
  });

  it.each([
    [undefined, {}, 60_000],
    [undefined, { permitWaitingTimeSeconds: 7 }, 7000],
    [undefined, { permitWaitingTimeSeconds: 0 }, 60_000],
    [5, { permitWaitingTimeSeconds: 7 }, 5000],
    [0, { permitWaitingTimeSeconds: 7 }, 7000],
  ])(
    'uses the timeout of the group (%j), and otherwise that of the arguments %j',
    (scheduleTimeoutSeconds, args, waitMs) => {
      const fixture = new Fixture(args);
      fixture.group({
        name: 'red',
        minMember: 2,
        ...(scheduleTimeoutSeconds !== undefined && { scheduleTimeoutSeconds }),
      });
      const [pod] = fixture.pods(2, { group: 'red' });
      expect(fixture.plugin.permit(new CycleState(), pod!)).toEqual({ waitMs });
    },
  );
});

describe('Unreserve', () => {
  it('rejects the waiting members of the gang, and no other pod', async () => {
    const fixture = new Fixture();
    const [failed, member] = fixture.pods(2, { group: 'red' });
    const [other] = fixture.pods(1, { group: 'blue' });
    fixture.group({ name: 'red', minMember: 2 });
    const { waitingPods } = fixture.handle;
    const waits = new Map([['Coscheduling', 60_000]]);
    const group = new CycleState();
    expect(fixture.plugin.permit(new CycleState(group), member!)).toEqual({ waitMs: 60_000 });
    const waiting = waitingPods.add(member!, 'n', waits);
    waitingPods.add(other!, 'n', waits);
    fixture.plugin.unreserve(new CycleState(group), failed!);
    expect(await waiting.outcome).toMatchObject({
      plugin: 'Coscheduling',
      message: 'member red-0 of PodGroup default/red could not start',
    });
    expect(waitingPods.all().map(({ pod }) => pod.name)).toEqual(['blue-0']);
  });

  it('does not reject members that wait for an earlier plan if this plan did not reach Permit', () => {
    const fixture = new Fixture();
    fixture.group({ name: 'red', minMember: 3 });
    const [planned, earlier] = fixture.pods(2, { group: 'red' });
    fixture.handle.waitingPods.add(earlier!, 'n', new Map([['Gate', 1000]]));
    const state = new CycleState(new CycleState());
    fixture.plugin.preFilter(state, planned!);
    fixture.plugin.unreserve(state, planned!);
    expect(fixture.handle.waitingPods.size).toBe(1);
  });

  it('does not reject other members when a member beyond the quorum was scheduled alone', () => {
    const fixture = new Fixture();
    const [extra, other] = fixture.pods(2, { group: 'red' });
    fixture.handle.waitingPods.add(other!, 'n', new Map([['Gate', 1000]]));
    fixture.plugin.unreserve(new CycleState(), extra!);
    expect(fixture.handle.waitingPods.size).toBe(1);
  });

  it('rejects no other pod for a pod without a group', () => {
    const fixture = new Fixture();
    const [single, other] = fixture.pods(2, {});
    fixture.handle.waitingPods.add(other!, 'n', new Map([['Gate', 1000]]));
    fixture.plugin.unreserve(new CycleState(), single!);
    expect(fixture.handle.waitingPods.size).toBe(1);
  });
});

describe('the hints for a rejected group', () => {
  it('accept freed capacity once minResources are free', () => {
    const fixture = new Fixture();
    fixture.group({ name: 'red', minMember: 1, minResources: { cpu: 4 } });
    const [pod] = fixture.pods(1, { group: 'red' });
    const show = (name: string): ClusterEvent => {
      const node = fixture.build.projectedNode({ name, cpu: 2 });
      fixture.handle.cluster.setNode(node);
      return { resource: 'Node', action: 'Add', old: undefined, new: node };
    };
    expect(fixture.plugin.preFilter(new CycleState(), pod!)).toBeDefined();
    expect(fixture.mayHelp(pod!, show('a'))).toBe(false);
    expect(fixture.mayHelp(pod!, show('b'))).toBe(true);
    expect(fixture.plugin.preFilter(new CycleState(), pod!)).toBeUndefined();
    const concerned = fixture.plugin.eventsToRegister().filter(({ concernsGangs }) => concernsGangs === true);
    expect(concerned).toEqual([]);
  });
});

describe('minResources', () => {
  /** Runs PreFilter for two more members of a group of three that requests three cpu, on a node with four. */
  function rejection(members: readonly PodOptions[], others: readonly PodOptions[] = []): string | undefined {
    const fixture = new Fixture();
    fixture.handle.cluster.setNode(fixture.build.projectedNode({ name: 'a', cpu: 4 }));
    fixture.group({ name: 'red', minMember: 3, minResources: { cpu: 3 } });
    // All three run at first, so that the group has started.
    const bound = members.map((_, i) => fixture.pods(1, { group: 'red', cpu: 1, nodeName: 'a', uid: `red-${i}` })[0]!);
    members.forEach((options, i) => fixture.pods(1, { group: 'red', cpu: 1, ...options, uid: bound[i]!.uid }));
    for (const options of others) fixture.pods(1, { nodeName: 'a', ...options });
    const [pod] = fixture.pods(2, { name: 'new', group: 'red', cpu: 1 });
    return fixture.plugin.preFilter(new CycleState(), pod!)?.message;
  }
  const runs = { nodeName: 'a' };
  const gone = { nodeName: 'a', phase: 'Failed' } as const;
  const succeeded = { nodeName: 'a', phase: 'Succeeded' } as const;

  it('are not required again for succeeded members of a group that has started', () => {
    expect(rejection([succeeded, gone, runs], [{ cpu: 2 }])).toBeUndefined();
    expect(rejection([succeeded, gone, runs], [{ cpu: 3 }])).toMatch(/request 3 cpu, but only 2 is free/);
  });

  it('are required for replacements of failed members', () => {
    expect(rejection([gone, gone, runs], [{ cpu: 1 }])).toBeUndefined();
    expect(rejection([gone, gone, runs], [{ cpu: 2 }])).toMatch(/request 3 cpu, but only 2 is free/);
  });

  it('are not covered by capacity that a terminating member, or a member of an earlier group, still uses', () => {
    expect(rejection([gone, runs, { ...runs, deleting: true }], [{ cpu: 2 }])).toMatch(/but only 1 is free/);
    const former = { group: 'red', cpu: 1, annotations: { [planAnnotations.groupUid]: 'former' } };
    expect(rejection([gone, gone, runs], [former, { cpu: 1 }])).toMatch(/but only 2 is free/);
  });
});
