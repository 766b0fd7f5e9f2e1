import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { expect, it } from 'vitest';
import type { Pod } from '../../api/pod.ts';
import type { Verdict } from '../../api/verdict.ts';
import { garbageCollector } from '../../base/testing/collect-garbage.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { Gang } from '../../cluster/gang.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import { gangSpecOf } from '../intake/pod-group-adapter.ts';
import { Timeline } from './timeline.ts';

const megabyte = 1_000_000;
const base = new Builders().projectedPod({ cpu: 1 });

/** Returns a pod with strings as the reader of JSON makes them. */
function podNamed(index: number, group?: string): Pod {
  const object = JSON.stringify({ uid: randomUUID(), name: `training-run-${index.toString(36)}-worker-${index % 97}` });
  const { uid, name } = JSON.parse(object) as Pick<Pod, 'uid' | 'name'>;
  const podGroupKey = group === undefined ? undefined : `team-vision/${group}`;
  return { ...base, uid, name, namespace: 'team-vision', key: `team-vision/${name}`, podGroupKey };
}

/** Pods with names and uids as Kubernetes makes them, and the groups of some of them. */
class Passage {
  timeline: Timeline | undefined;
  readonly #clock = new VirtualClock();
  readonly #pods = new Map<string, Pod>();
  readonly #gangs = new Map<string, Gang>();
  readonly #build = new Builders();

  constructor() {
    const timeline = new Timeline({
      cluster: {
        gang: (key) => this.#gangs.get(key),
        gangs: () => this.#gangs.values(),
        isAssumed: () => false,
        pod: (uid) => this.#pods.get(uid),
      },
      queue: { get: () => undefined },
      profiles: { isOurs: () => true, decidesGangs: () => true },
      clock: this.#clock,
    });
    timeline.begin('epoch');
    this.timeline = timeline;
  }

  /** A pod comes, is rejected, bound, succeeds and goes. */
  passes(index: number, group?: string): void {
    const created = podNamed(index, group);
    this.#clock.advance(7);
    this.#set(undefined, created);
    const verdict: Verdict = {
      reason: 'Unschedulable',
      waitsFor: 'capacity',
      message: `0/40 nodes: ${index % 50} full`,
    };
    const entity = { schedulingEntity: { kind: 'pod', pod: created } as const, rejectionPosition: -1 };
    this.timeline!.rejected(entity, verdict);
    this.timeline!.planned(entity, [{ nodeName: 'node-1' }]);
    const bound: Pod = { ...created, nodeName: 'node-1' };
    this.#set(created, bound);
    const succeeded: Pod = { ...bound, phase: 'Succeeded' };
    this.#set(bound, succeeded);
    this.#set(succeeded, undefined);
  }

  /** The group is rejected with each of the messages in turn, `times` times. */
  rejects(gang: Gang, messages: readonly string[], times: number): void {
    const entity = { schedulingEntity: { kind: 'gang', gang } as const, rejectionPosition: -1 };
    for (let i = 0; i < times; i++) {
      this.#clock.advance(1);
      for (const message of messages)
        this.timeline!.rejected(entity, { reason: 'Unschedulable', waitsFor: 'capacity', message });
    }
  }

  /** Shows a pod that is rejected `times` times. */
  rejectsPod(times: number): void {
    const pod = podNamed(0);
    this.#set(undefined, pod);
    const entity = { schedulingEntity: { kind: 'pod', pod } as const, rejectionPosition: -1 };
    for (let i = 0; i < times; i++)
      this.timeline!.rejected(entity, { reason: 'Unschedulable', waitsFor: 'capacity', message: '0/40 nodes: full' });
  }

  group(name: string): Gang {
    const spec = gangSpecOf(
      this.#build.projectedPodGroup({ name, namespace: 'team-vision', minMember: 5 }),
      this.#build.resources,
    );
    const gang = new Gang(spec.key);
    gang.setSpec(spec);
    this.#gangs.set(spec.key, gang);
    this.timeline!.groupChanged(spec.key);
    return gang;
  }

  groupEnds(name: string): void {
    this.#gangs.delete(`team-vision/${name}`);
    this.timeline!.groupChanged(`team-vision/${name}`);
  }

  #set(before: Pod | undefined, now: Pod | undefined): void {
    const { uid, podGroupKey } = (now ?? before)!;
    const gang = podGroupKey === undefined ? undefined : this.#gangs.get(podGroupKey);
    if (now === undefined) {
      this.#pods.delete(uid);
      gang?.removeMember(uid);
    } else {
      this.#pods.set(uid, now);
      gang?.setMember(now);
    }
    this.timeline!.podChanged(before, now, this.#clock.now());
  }
}

/** Returns the memory that only the timeline keeps from being freed. */
function memoryOf(passage: Passage): number {
  const collect = garbageCollector();
  const used = (): number => {
    // What other tests in this process have left, such as code that V8 flushes, takes several collections.
    for (let i = 0; i < 10; i++) collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = used();
  passage.timeline = undefined;
  return before - used();
}

it('UI15: takes at most 4 MB after 70,000 pods came and went', () => {
  const passage = new Passage();
  for (let i = 0; i < 35_000; i++) passage.passes(i);
  for (let i = 0; i < 35_000; i += 5) {
    const name = `gang-of-the-experiment-${i}`;
    passage.group(name);
    for (let member = 0; member < 5; member++) passage.passes(35_000 + i + member, name);
    passage.groupEnds(name);
  }
  expect(passage.timeline!.ring.size).toBe(20_000);
  const bytes = memoryOf(passage);
  expect(bytes).toBeGreaterThan(megabyte / 2);
  expect(bytes).toBeLessThan(4 * megabyte);
});

it('UI15: takes at most 200 bytes an entry if each is of another pod, which is gone', () => {
  const passage = new Passage();
  const { timeline } = passage;
  for (let i = 0; i < 20_000; i++) {
    const pod = podNamed(i);
    timeline!.podChanged(pod, undefined, i);
  }
  const bytes = memoryOf(passage);
  expect(bytes / 20_000).toBeLessThan(200);
});

it('UI15: takes at most 4 MB after 1,000 groups have had 5,000 transitions each', () => {
  const passage = new Passage();
  const gangs = Array.from({ length: 1_000 }, (_, i) => passage.group(`gang-of-the-experiment-${i}`));
  const before = passage.timeline!.ring.sequence;
  for (let round = 0; round < 10; round++)
    for (const gang of gangs) passage.rejects(gang, ['0/40 nodes: full', '0/40 nodes: in use'], 250);
  const { sequence } = passage.timeline!.ring;
  expect(sequence - before).toBe(5_000_000);
  expect(passage.timeline!.ring.size).toBe(20_000);
  expect([20_000, 20_001].map((back) => passage.timeline!.ring.holdsAfter(sequence - back))).toEqual([true, false]);
  const bytes = memoryOf(passage);
  expect(bytes).toBeGreaterThan(megabyte / 2);
  expect(bytes).toBeLessThan(4 * megabyte);
});

it('takes one entry for the rejections of a group, and one for those of a pod, however many there are', () => {
  const passage = new Passage();
  const gang = passage.group('red');
  passage.rejectsPod(10_000);
  passage.rejects(gang, ['0/40 nodes: full'], 10_000);
  const { ring } = passage.timeline!;
  const transitions = [...ring.positionsAfter(0)].map((position) => ring.at(position));
  expect(transitions.map(({ kind, count }) => ({ kind, count }))).toEqual([
    { kind: 'Added', count: undefined },
    { kind: 'Added', count: undefined },
    { kind: 'Rejected', count: 10_000 },
    { kind: 'Rejected', count: 10_000 },
  ]);
});
