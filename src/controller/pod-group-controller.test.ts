import { describe, expect, it } from 'vitest';
import type { Condition } from '../api/condition.ts';
import type { MislabeledWorkload } from '../api/mislabeled-workload.ts';
import type { PodGroup, PodGroupStatus } from '../api/pod-group.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { ConflictError, NotFoundError } from '../client/api-errors.ts';
import type { EventToRecord } from '../client/event-recorder.ts';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import { projectMemberPod } from './member-pod.ts';
import type { MemberPod } from './member-pod.ts';
import { PodGroupControllerMetrics } from './pod-group-controller-metrics.ts';
import { PodGroupController } from './pod-group-controller.ts';
import type { StatusPatch } from './status-patch.ts';
import { creation, memberPod, memberPods, podGroup } from './testing/objects.ts';

const settleMs = 100;

/** The API server and the two caches of the controller. Writes are versioned; the caches receive them on `deliver`. */
class TestPlane {
  readonly clock = new VirtualClock(creation);
  readonly registry: MetricRegistry = createMetricRegistry({ processMetrics: false });
  readonly controller: PodGroupController;
  readonly patches: { readonly key: string; readonly patch: StatusPatch }[] = [];
  readonly events: EventToRecord[] = [];
  /** The workload that has the label of every group, if there is one. */
  workload: MislabeledWorkload | undefined;
  /** `group lacksMembers`, in order. */
  readonly lacking: string[] = [];
  /** Errors for the next writes, one each. */
  readonly failures: Error[] = [];
  /** group key -> the server's version */
  readonly #stored = new Map<string, PodGroup>();
  /** group key -> the version in the controller's cache */
  readonly #cached = new Map<string, PodGroup>();
  /** pod uid -> pod */
  readonly #members = new Map<string, MemberPod>();
  #version = 1;

  constructor() {
    this.controller = new PodGroupController({
      lookup: {
        groups: () => this.#cached.values(),
        group: (key) => this.#cached.get(key),
        membersOf: (key) => [...this.#members.values()].filter((member) => member.groupKey === key),
        lookAlikesOf: (key) =>
          [...this.#members.values()].filter(({ namespace, lookAlikes }) =>
            lookAlikes.some(({ name }) => `${namespace}/${name}` === key),
          ),
      },
      writer: { patchStatus: (group, patch) => this.#patch(group, patch) },
      clock: this.clock,
      random: () => 1,
      logger: silentLogger,
      metrics: new PodGroupControllerMetrics(this.registry, () => this.#cached.values()),
      workloads: {
        lacksMembers: (namespace, name, lacks) => void this.lacking.push(`${namespace}/${name} ${lacks}`),
        podChanged: () => undefined,
        of: () => this.workload,
      },
      events: { record: (event) => void this.events.push(event) },
      settleMs,
    });
    this.controller.start();
  }

  sync(): void {
    this.controller.groupHandler.onSynced!();
    this.controller.memberHandler.onSynced!();
  }

  add(group: PodGroup): void {
    this.#stored.set(group.key, group);
    this.#cached.set(group.key, group);
    this.controller.groupHandler.onAdd(group);
  }

  delete(key: string): void {
    this.#stored.delete(key);
    const last = this.#cached.get(key)!;
    this.#cached.delete(key);
    this.controller.groupHandler.onDelete(last, false);
  }

  set(...members: readonly MemberPod[]): void {
    for (const member of members) {
      const previous = this.#members.get(member.uid);
      this.#members.set(member.uid, member);
      if (previous === undefined) this.controller.memberHandler.onAdd(member);
      else this.controller.memberHandler.onUpdate(previous, member);
    }
  }

  remove(member: MemberPod): void {
    this.#members.delete(member.uid);
    this.controller.memberHandler.onDelete(member, false);
  }

  /** Changes the group on the server; the cache does not receive the change yet. */
  touch(key: string, change: Partial<PodGroup> = {}): void {
    this.#stored.set(key, { ...this.#stored.get(key)!, ...change, resourceVersion: String(++this.#version) });
  }

  /** Brings the controller's cache up to date. */
  deliver(): void {
    for (const [key, group] of this.#stored) {
      const previous = this.#cached.get(key)!;
      if (previous.resourceVersion === group.resourceVersion) continue;
      this.#cached.set(key, group);
      this.controller.groupHandler.onUpdate(previous, group);
    }
  }

  status(key = 'default/group'): PodGroup['status'] {
    return this.#stored.get(key)!.status;
  }

  /** Advances the time and runs everything that is due. */
  async pass(ms = settleMs): Promise<void> {
    this.clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
  }

  async #patch(group: PodGroup, patch: StatusPatch): Promise<PodGroup> {
    this.patches.push({ key: group.key, patch });
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    const stored = this.#stored.get(group.key);
    const details = { status: 409, reason: 'Conflict', request: 'PATCH', causes: [] };
    if (stored === undefined) throw new NotFoundError('gone', { ...details, status: 404 });
    if (stored.resourceVersion !== group.resourceVersion) throw new ConflictError('changed', details);
    const after = {
      ...stored,
      resourceVersion: String(++this.#version),
      status: merged(stored.status, patch),
    };
    this.#stored.set(group.key, after);
    return after;
  }
}

/** Applies a merge patch as the API server does. */
function merged(status: PodGroupStatus, patch: StatusPatch): PodGroupStatus {
  return Object.fromEntries(Object.entries({ ...status, ...patch }).filter(([, value]) => value !== null));
}

async function synced(...groups: readonly PodGroup[]): Promise<TestPlane> {
  const plane = new TestPlane();
  for (const group of groups) plane.add(group);
  plane.sync();
  await plane.pass();
  plane.deliver();
  await plane.pass();
  plane.patches.length = 0;
  return plane;
}

describe('PodGroupController', () => {
  it('writes nothing before both caches have synced', async () => {
    const plane = new TestPlane();
    plane.add(podGroup({ minMember: 2, status: { phase: 'Running', running: 2 } }));
    plane.controller.groupHandler.onSynced!();
    await plane.pass(10_000);
    expect(plane.patches).toEqual([]);
    expect(plane.controller.isWorking).toBe(false);
    plane.set(...memberPods(2, { phase: 'Running' }));
    plane.controller.memberHandler.onSynced!();
    await plane.pass();
    expect(plane.status()).toMatchObject({ phase: 'Running', running: 2 });
  });

  it('writes nothing while the pods are listed again: members that are not up to date yet may be bound', async () => {
    const plane = await synced(podGroup({ minMember: 2 }));
    const [first, second, third] = memberPods(3, { phase: 'Running' });
    plane.set(first!, second!);
    await plane.pass();
    plane.deliver();
    plane.patches.length = 0;
    plane.controller.memberHandler.onListing!();
    for (const member of [first!, second!]) plane.remove(member);
    await plane.pass(10_000);
    expect(plane.patches).toEqual([]);
    plane.set(third!);
    plane.controller.memberHandler.onReplaced!();
    await plane.pass();
    const started = plane.status().conditions?.find(({ type }) => type === 'Started');
    expect([plane.status().running, started?.status]).toEqual([1, 'True']);
  });

  it('follows the pods through pending, running and succeeded', async () => {
    const plane = await synced(podGroup({ minMember: 3 }));
    expect(plane.status()).toMatchObject({ phase: 'Pending', running: 0, succeeded: 0, failed: 0 });
    for (const [phase, expected] of [
      ['Pending', { phase: 'Scheduling', running: 0 }],
      ['Running', { phase: 'Running', running: 3 }],
      ['Succeeded', { phase: 'Finished', running: 0, succeeded: 3 }],
    ] as const) {
      plane.set(...memberPods(3, { phase, uid: 'pod' }));
      await plane.pass();
      plane.deliver();
      expect(plane.status()).toMatchObject(expected);
    }
  });

  it('writes only fields that differ', async () => {
    const plane = await synced(podGroup({ minMember: 2 }));
    const members = memberPods(2, { phase: 'Running' });
    plane.set(...members);
    await plane.pass();
    plane.deliver();
    await plane.pass();
    expect(plane.patches).toHaveLength(1);
    plane.set(...members);
    await plane.pass(60_000);
    expect(plane.patches).toHaveLength(1);
    plane.set(memberPod({ uid: 'Running-0', phase: 'Running', ready: true }));
    await plane.pass();
    expect(Object.keys(plane.patches[1]!.patch)).toEqual(['ready', 'conditions']);
  });

  it('copies the predicted start, and deletes it once the group starts', async () => {
    const plane = await synced(podGroup({ minMember: 1 }));
    const wait = memberPod({ verdict: { reason: 'Unschedulable', message: 'expected to start' } });
    plane.set(wait);
    await plane.pass();
    plane.deliver();
    for (const start of [
      ['Draining', ''],
      ['Declared', '2026-01-01T12:00:00Z'],
    ] as const) {
      plane.set({ ...wait, predictedStart: memberPod({ start }).predictedStart });
      await plane.pass();
      plane.deliver();
    }
    const start = { predictedStartTime: '2026-01-01T12:00:00Z', startConfidence: 'Declared' };
    expect(plane.patches.slice(1).map(({ patch }) => patch)).toEqual([{ startConfidence: 'Draining' }, start]);
    expect(plane.status()).toMatchObject(start);
    plane.set(memberPod({ nodeName: 'node-a', start: ['Declared', '2026-01-01T12:00:00Z'] }));
    await plane.pass();
    expect(plane.patches.at(-1)!.patch).toMatchObject({ predictedStartTime: null, startConfidence: null });
    expect(Object.keys(plane.status())).not.toContain('startConfidence');
  });

  it('batches the changes of a group into one write', async () => {
    const plane = await synced(podGroup({ minMember: 50 }));
    for (const member of memberPods(50, { phase: 'Running' })) {
      plane.set(member);
      await plane.pass(1);
    }
    await plane.pass();
    expect(plane.patches.map(({ patch }) => patch.running)).toEqual([50]);
  });

  it('separates groups with the same name in two namespaces', async () => {
    const plane = await synced(podGroup({ minMember: 2 }), podGroup({ minMember: 2, namespace: 'other' }));
    plane.set(memberPod({ uid: 'a' }), memberPod({ uid: 'b', namespace: 'other' }));
    await plane.pass();
    expect(plane.status()).toMatchObject({ phase: 'Pending', members: 1 });
    expect(plane.status('other/group')).toMatchObject({ phase: 'Pending', members: 1 });
  });

  it('ignores pods that were bound for a former group with the same name', async () => {
    const plane = await synced(podGroup({ minMember: 2 }));
    const { uid } = podGroup();
    plane.set(
      memberPod({ uid: 'a', phase: 'Succeeded', plannedGroupUid: 'former' }),
      memberPod({ uid: 'b', phase: 'Failed', plannedGroupUid: 'former' }),
      memberPod({ uid: 'c', phase: 'Running', nodeName: 'a', plannedGroupUid: 'former' }),
      memberPod({ uid: 'f', phase: 'Running', nodeName: 'a' }),
      memberPod({ uid: 'g', phase: 'Running', nodeName: 'a', plannedGroupUid: uid }),
      // On an unbound pod the annotation is only a copy and has no meaning.
      memberPod({ uid: 'h', phase: 'Pending', plannedGroupUid: 'former' }),
      memberPod({ uid: 'd', phase: 'Succeeded', plannedGroupUid: uid }),
      memberPod({ uid: 'e', phase: 'Failed' }),
    );
    await plane.pass();
    expect(plane.status()).toMatchObject({ members: 5, running: 2, succeeded: 1, failed: 1, scheduled: 3 });
  });

  it('reconciles both groups when a pod changes its group, and the group of a deleted pod', async () => {
    const plane = await synced(podGroup({ name: 'red' }), podGroup({ name: 'blue' }));
    plane.set(memberPod({ group: 'red' }));
    await plane.pass();
    expect(plane.status('default/red')).toMatchObject({ members: 1 });
    const moved = memberPod({ group: 'blue' });
    plane.set(moved);
    await plane.pass();
    expect([plane.status('default/red').members, plane.status('default/blue').members]).toEqual([0, 1]);
    plane.remove(moved);
    await plane.pass();
    expect(plane.status('default/blue')).toMatchObject({ members: 0 });
  });

  it('derives the status again when the spec changes', async () => {
    const plane = await synced(podGroup({ minMember: 3 }));
    plane.set(...memberPods(2, { phase: 'Running' }));
    await plane.pass();
    plane.touch('default/group', { minMember: 2, generation: 2 });
    plane.deliver();
    await plane.pass();
    expect(plane.status()).toMatchObject({ phase: 'Running', observedGeneration: 2 });
  });

  it('continues from its own write while the cache does not have it yet', async () => {
    const plane = await synced(podGroup({ minMember: 2 }));
    plane.set(...memberPods(2, { uid: 'pod' }));
    await plane.pass();
    plane.set(...memberPods(2, { uid: 'pod', phase: 'Running' }));
    await plane.pass();
    plane.set(...memberPods(2, { uid: 'pod', phase: 'Succeeded' }));
    await plane.pass();
    expect(plane.status().phase).toBe('Finished');
    plane.deliver();
    await plane.pass(60_000);
    expect(plane.patches).toHaveLength(3);
    expect(await plane.registry.metrics()).not.toContain('result="conflict"');
  });

  it('reconciles again after a conflict', async () => {
    const plane = await synced(podGroup({ minMember: 2 }));
    plane.touch('default/group', { minMember: 1, generation: 2 });
    plane.set(memberPod({ phase: 'Running' }));
    await plane.pass();
    expect(plane.status().phase).toBe('Pending');
    plane.deliver();
    await plane.pass();
    await plane.pass();
    expect(plane.status()).toMatchObject({ phase: 'Running', observedGeneration: 2 });
    expect(await plane.registry.metrics()).toContain('tutti_podgroup_reconciles_total{result="conflict"} 1');
  });

  it('retries a failed write with growing delays', async () => {
    const plane = await synced(podGroup());
    plane.failures.push(new Error('down'), new Error('down'));
    plane.set(memberPod({ phase: 'Running' }));
    await plane.pass();
    await plane.pass(100);
    expect(plane.patches).toHaveLength(2);
    await plane.pass(199);
    expect(plane.patches).toHaveLength(2);
    await plane.pass(1);
    expect(plane.status().phase).toBe('Running');
  });

  it('remembers that a group has started until it is written, even if its members are gone by then', async () => {
    const plane = await synced(podGroup({ minMember: 2 }));
    const started = (): string | undefined => {
      return plane.status().conditions?.find(({ type }) => type === 'Started')?.status;
    };
    const [first, second] = memberPods(2, { nodeName: 'node' });
    plane.failures.push(new Error('connection refused'));
    plane.set(first!, second!);
    await plane.pass();
    expect(started()).toBe('False');
    plane.remove(second!);
    await plane.pass(1000);
    expect([started(), plane.status().scheduled]).toEqual(['True', 1]);
  });

  it('remembers nothing for a new group with the same name', async () => {
    const plane = await synced(podGroup({ minMember: 2 }));
    plane.failures.push(new Error('connection refused'));
    plane.set(...memberPods(2, { nodeName: 'node' }));
    await plane.pass();
    plane.delete('default/group');
    plane.add({ ...podGroup({ minMember: 3 }), uid: 'another' });
    await plane.pass(1000);
    expect(plane.status().conditions?.find(({ type }) => type === 'Started')?.status).toBe('False');
  });

  it('ignores a group that does not exist or was deleted, and reconciles a new one with its name', async () => {
    const plane = await synced(podGroup({ minMember: 2 }));
    plane.set(memberPod({ group: 'missing' }), ...memberPods(2, { phase: 'Running' }));
    await plane.pass();
    plane.delete('default/group');
    plane.set(memberPod({ uid: 'Running-0', phase: 'Succeeded' }));
    await plane.pass(60_000);
    expect(plane.patches.map(({ patch }) => patch.phase)).toEqual(['Running']);
    plane.add(podGroup({ minMember: 1, resourceVersion: '900' }));
    await plane.pass();
    expect(plane.status()).toMatchObject({ phase: 'Finished', succeeded: 1, running: 1 });
  });

  it('writes nothing after stop', async () => {
    const plane = await synced(podGroup());
    plane.set(memberPod({ phase: 'Running' }));
    await plane.controller.stop();
    await plane.pass(60_000);
    expect(plane.patches).toEqual([]);
  });

  it('exports the number of groups per phase', async () => {
    const plane = await synced(podGroup({ name: 'red' }), podGroup({ name: 'blue' }));
    plane.set(memberPod({ group: 'red', phase: 'Running' }));
    await plane.pass();
    plane.deliver();
    const text = await plane.registry.metrics();
    expect(text).toContain('tutti_podgroups{phase="Running"} 1');
    expect(text).toContain('tutti_podgroups{phase="Pending"} 1');
    expect(text).toContain('tutti_podgroups{phase="Failed"} 0');
  });
});

describe('pods that were meant to be members', () => {
  const misspelled = (uid: string, key = 'scheduling.k8s.io/pod-group'): MemberPod =>
    projectMemberPod({
      metadata: {
        ...{ uid, namespace: 'default', name: `pod-${uid}`, labels: { [key]: 'group', app: 'group' } },
        ownerReferences: [{ kind: 'Job', name: 'train', controller: true }],
      },
      spec: { nodeName: 'node-a' },
      status: { phase: 'Running' },
    });

  it.each([
    'scheduling.k8s.io/pod-group',
    'scheduling.x-k8s.io/podgroup',
    'scheduling.x-k8s.io/pod_group',
    'scheduling.x-k8s.io/pod-gruop',
    'pod-group.scheduling.sigs.k8s.io',
    'scheduling.volcano.sh/group-name',
    'kueue.x-k8s.io/pod-group-name',
  ])('are named in the status and in one Event: %s', async (key) => {
    const plane = new TestPlane();
    plane.sync();
    plane.add(podGroup({ minMember: 2 }));
    await plane.pass();
    const why =
      `pods of Job train have the label ${key}=group instead of scheduling.x-k8s.io/pod-group=group, ` +
      'so they start one by one; correct the key';
    for (const uid of ['a', 'b']) {
      plane.set(misspelled(uid, key));
      await plane.pass();
      plane.deliver();
    }
    expect(scheduledCondition(plane)).toMatchObject({
      status: 'False',
      reason: 'LabelMissing',
      message: `0 members are able to run, 2 are needed: ${why}`,
    });
    expect(plane.events).toMatchObject([
      { type: 'Warning', reason: 'LabelMissing', note: why, regarding: { kind: 'PodGroup', name: 'group' } },
    ]);
    plane.set(...memberPods(2));
    await plane.pass();
    expect(scheduledCondition(plane)?.reason).not.toBe('LabelMissing');
  });

  it('cause one Event, whichever of them the status names', async () => {
    const plane = new TestPlane();
    plane.sync();
    plane.add(podGroup({ minMember: 2 }));
    for (const name of ['c', 'b', 'a']) {
      plane.set({ ...misspelled(name), name, controlledBy: undefined });
      await plane.pass();
      plane.deliver();
    }
    expect(scheduledCondition(plane)?.message).toContain('pods such as a have the label');
    expect(plane.events).toHaveLength(1);
  });

  it('are reported for one existing group each', async () => {
    const plane = new TestPlane();
    plane.sync();
    for (const name of ['group', 'other']) plane.add(podGroup({ name, minMember: 2 }));
    const labels = { 'pod-group-size': '2', 'scheduling.k8s.io/pod-group': 'group', podgroup: 'other' };
    plane.set(projectMemberPod({ metadata: { uid: 'a', namespace: 'default', name: 'a', labels } }));
    await plane.pass();
    expect(plane.events.map(({ regarding }) => regarding.name)).toEqual(['group']);
  });

  it('are found when their labels change, and forgotten when they are gone', async () => {
    const plane = new TestPlane();
    plane.sync();
    plane.add(podGroup({ minMember: 2 }));
    plane.set(misspelled('a', 'app.kubernetes.io/part-of'));
    await plane.pass();
    plane.deliver();
    expect(scheduledCondition(plane)?.reason).toBe('WaitingForGang');
    plane.set(misspelled('a'));
    await plane.pass();
    plane.deliver();
    expect(scheduledCondition(plane)?.reason).toBe('LabelMissing');
    plane.remove(misspelled('a'));
    await plane.pass();
    expect(scheduledCondition(plane)?.reason).toBe('WaitingForGang');
  });

  it('are unknown if nothing looks like the label; the status then names the label that no pod has', async () => {
    const plane = new TestPlane();
    plane.sync();
    plane.add(podGroup({ minMember: 2 }));
    await plane.pass();
    plane.deliver();
    const available = '0 members are able to run, 2 are needed';
    expect(scheduledCondition(plane)).toMatchObject({
      reason: 'WaitingForGang',
      message: `${available}: no pod in namespace default has the label scheduling.x-k8s.io/pod-group=group`,
    });
    expect(plane.events).toEqual([]);
    plane.set(memberPod({ uid: 'a', phase: 'Running', nodeName: 'a', plannedGroupUid: 'former' }));
    await plane.pass();
    expect(scheduledCondition(plane)?.message).toBe(available);
  });

  it('has an Event that says so if no pod names it for 10 s', async () => {
    const plane = new TestPlane();
    plane.sync();
    plane.add(podGroup({ minMember: 2 }));
    await plane.pass();
    plane.deliver();
    await plane.pass(9_000);
    expect(plane.events).toEqual([]);
    await plane.pass(2_000);
    expect(plane.events).toMatchObject([
      {
        type: 'Warning',
        reason: 'WaitingForGang',
        regarding: { kind: 'PodGroup', name: 'group' },
        note: 'no pod in namespace default has the label scheduling.x-k8s.io/pod-group=group; the group starts when enough pods have it',
      },
    ]);
    await plane.pass(60_000);
    expect(plane.events).toHaveLength(1);
  });

  it('has no such Event if its pods follow soon, or if it is deleted', async () => {
    const plane = new TestPlane();
    plane.sync();
    plane.add(podGroup({ minMember: 2 }));
    plane.add(podGroup({ name: 'deleted', minMember: 2 }));
    await plane.pass();
    plane.deliver();
    plane.set(memberPod({}));
    plane.delete('default/deleted');
    await plane.pass(20_000);
    expect(plane.events).toEqual([]);
  });

  it('are named by the workload that has the label', async () => {
    const plane = new TestPlane();
    plane.workload = { kind: 'Job', name: 'train', group: 'group' };
    plane.sync();
    plane.add(podGroup({ minMember: 2 }));
    await plane.pass();
    expect(plane.lacking).toEqual(['default/group true']);
    expect(scheduledCondition(plane)).toMatchObject({
      reason: 'LabelMissing',
      message:
        '0 members are able to run, 2 are needed: Job train has the label scheduling.x-k8s.io/pod-group=group, but its pod template lacks it, ' +
        'so its pods start one by one; create the Job again with the label in spec.template.metadata.labels',
    });
    expect(plane.events).toHaveLength(1);
    plane.set(...memberPods(2));
    await plane.pass();
    expect(plane.lacking.at(-1)).toBe('default/group false');
    expect(scheduledCondition(plane)?.reason).not.toBe('LabelMissing');
  });
});

function scheduledCondition(plane: TestPlane): Condition | undefined {
  return plane.status().conditions?.find(({ type }) => type === 'Scheduled');
}
