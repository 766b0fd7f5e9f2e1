import { expect, it } from 'vitest';
import { hasStarted, projectPodGroup, startedSince, startsAnew } from '../api/pod-group.ts';
import type { PodGroup, PodGroupStatus } from '../api/pod-group.ts';
import { planAnnotations } from '../api/pod.ts';
import { seededRandom } from '../base/random.ts';
import { runs } from '../base/testing/runs.ts';
import { Gang } from '../cluster/gang.ts';
import type { GangSpec } from '../cluster/gang-spec.ts';
import { Builders } from '../testkit/builders/builders.ts';
import type { PodOptions } from '../testkit/builders/pod.ts';
import { projectMemberPod } from './member-pod.ts';
import { derivePodGroupStatus } from './pod-group-status.ts';

const minMember = 3;
const groupUid = 'group';
const preempted = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'PreemptionByScheduler',
  message: 'other-scheduler: preempting to accommodate a higher priority pod',
};
const kinds = ['mark', 'unmark', 'delete', 'remove', 'remove', 'create', 'create', 'bind', 'bind', 'succeed'] as const;

/** A group in the API, what the controller makes of it, and a scheduler that has watched it from the beginning. */
class Story {
  readonly gang = new Gang('default/red');
  readonly #random: () => number;
  readonly #build = new Builders();
  /** name -> pod */
  readonly #pods = new Map<string, PodOptions>();
  #status: PodGroupStatus = {};
  #now = Date.UTC(2026, 5);
  #names = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.#reconcile();
  }

  step(): void {
    const kind = kinds[this.#below(kinds.length)]!;
    const on = [...this.#pods].filter(([, { nodeName }]) => nodeName !== undefined);
    const [name, pod] = on[this.#below(on.length)] ?? [];
    switch (kind) {
      case 'create':
        if (this.#pods.size < 8) this.#set(`red-${this.#names++}`, {});
        break;
      case 'bind':
        this.#bind();
        break;
      case 'mark':
        // Usually the whole group. Pods that have succeeded are not evicted.
        for (const [each, options] of this.#below(3) > 0 ? on : [])
          if (options.phase === undefined) this.#set(each, { ...options, conditions: [preempted] });
        break;
      case 'unmark':
        for (const [each, options] of on) this.#set(each, { ...options, conditions: [] });
        break;
      default:
        if (name === undefined) return;
        if (kind === 'delete') this.#set(name, { ...pod, deleting: true });
        else if (kind === 'succeed') this.#set(name, { ...pod, phase: 'Succeeded' });
        else if (pod!.deleting === true) this.#remove(name);
    }
    this.#reconcile();
  }

  /** Binds pending members as the scheduler may, perhaps not all of them. */
  #bind(): void {
    const pending = [...this.#pods].filter(([, { nodeName }]) => nodeName === undefined);
    const { missing, started } = this.gang;
    if (pending.length === 0 || pending.length < missing) return;
    const relied = [...this.#pods.values()].filter(
      ({ nodeName, deleting, phase, conditions = [] }) =>
        (nodeName !== undefined && deleting !== true && phase === undefined && conditions.length === 0) ||
        (started && phase === 'Succeeded' && deleting !== true),
    );
    const planned = pending.slice(0, Math.max(1, missing));
    expect(relied.length + planned.length).toBeGreaterThanOrEqual(minMember);
    const annotations = {
      [planAnnotations.groupUid]: groupUid,
      ...(missing > 0 && { [planAnnotations.quorum]: String(minMember) }),
    };
    const bound = this.#below(4) > 0 ? planned.length : this.#below(planned.length);
    for (const [name, options] of planned.slice(0, bound)) this.#set(name, { ...options, annotations, nodeName: 'a' });
  }

  /** The scheduler agrees with the controller, and with a process that sees the group for the first time. */
  expectAgreement(): void {
    const fresh = new Gang('default/red');
    const names = [...this.#pods.keys()];
    const isGroupFirst = this.#below(2) === 0;
    if (isGroupFirst) fresh.setSpec(this.#spec);
    for (const name of this.#below(2) === 0 ? names : names.toReversed()) fresh.setMember(this.#projected(name));
    if (!isGroupFirst) fresh.setSpec(this.#spec);
    fresh.allListed();
    const { started, startsAnew, counted, present, missing } = this.gang;
    expect({ started, startsAnew, counted, present, missing }).toEqual({
      started: fresh.started,
      startsAnew: fresh.startsAnew,
      counted: fresh.counted,
      present: fresh.present,
      missing: fresh.missing,
    });
    expect(hasStarted(this.#status)).toBe(started);
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #projected(name: string): ReturnType<Builders['projectedPod']> {
    return this.#build.projectedPod({ ...this.#pods.get(name)!, name, uid: name, group: 'red' });
  }

  #set(name: string, options: PodOptions): void {
    this.#pods.set(name, options);
    this.gang.setMember(this.#projected(name));
  }

  #remove(name: string): void {
    this.#pods.delete(name);
    this.gang.removeMember(name);
  }

  get #group(): PodGroup {
    return projectPodGroup(this.#build.podGroup({ name: 'red', uid: groupUid, minMember, status: this.#status }));
  }

  get #spec(): GangSpec {
    const { uid, key, creationTimestamp } = this.#group;
    return {
      source: 'scheduling.x-k8s.io',
      ...{ uid, key, creationTimestamp, minMember, minResources: undefined, scheduleTimeoutSeconds: undefined },
      ...{ confirmsStart: true, releases: false, repairGraceMs: 60_000 },
      startedSince: startedSince(this.#status),
      startsAnew: startsAnew(this.#status),
    };
  }

  /** The controller writes the status, and the scheduler sees it. */
  #reconcile(): void {
    this.#now += 1000;
    const members = [...this.#pods].map(([name, options]) =>
      projectMemberPod(this.#build.pod({ ...options, name, uid: name, group: 'red' })),
    );
    this.#status = derivePodGroupStatus(this.#group, members, this.#now);
    this.gang.setSpec(this.#spec);
  }
}

it('in any order of marks, deletes, replacements and Bindings, scheduler, controller and a new leader agree on the life of a group', () => {
  for (let seed = 1; seed <= runs(1500); seed++) {
    const story = new Story(seed);
    try {
      for (let i = 0; i < 60; i++) {
        story.step();
        story.expectAgreement();
      }
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
});
