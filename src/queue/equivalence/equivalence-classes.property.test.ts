import { expect, it } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { runs } from '../../base/testing/runs.ts';
import type { ClusterEvent } from '../../framework/cluster-event.ts';
import { outsiders } from '../../framework/event-hints.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { CoreHarness } from '../../testkit/core-harness.ts';
import type { EquivalenceClass } from './equivalence-class.ts';
import { EquivalenceClasses } from './equivalence-classes.ts';
import { newEntity } from '../queued-entity.ts';
import type { QueuedEntity } from '../queued-entity.ts';

const actions = ['Add', 'Update'] as const;
/** Signatures may change with the cluster state while pods wait. */
let epoch = 0;
const extra: readonly Plugin[] = [
  {
    name: 'Signs',
    sign: ({ labels }) => `${epoch} ${labels.color}`,
    filter: () => undefined,
    eventsToRegister: () => [
      { resource: 'Node', actions, hint: ({ labels }, event) => isOfColor(event, labels.color) },
    ],
  },
  {
    name: 'Unsigned',
    filter: () => undefined,
    eventsToRegister: () => [{ resource: 'Node', actions, hint: ({ name }) => name.endsWith('0') }],
  },
  {
    name: 'Breaks',
    sign: () => {
      throw new Error('no');
    },
    filter: () => undefined,
    eventsToRegister: () => [
      {
        resource: 'Node',
        actions: ['Add'],
        hint: () => {
          throw new Error('no');
        },
      },
    ],
  },
];
const ofGangs: Plugin = {
  name: 'OfGangs',
  filter: () => undefined,
  eventsToRegister: () => [
    {
      resource: 'AssignedPod',
      actions: ['Delete'],
      concernsGangs: true,
      hint: ({ labels }) => labels.color === 'red',
    },
  ],
};

function isOfColor(event: ClusterEvent, color: string | undefined): boolean {
  return event.resource === 'Node' && event.action !== 'Delete' && event.new.labels.color === color;
}

it('finds the same classes as running every hint, and keeps nothing of entities that have left', () => {
  let helped = 0;
  let urgent = 0;
  for (let seed = 1; seed <= runs(40); seed++) {
    const random = seededRandom(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
    const harness = new CoreHarness({
      plugins: defaultPlugins,
      extra: [...extra, ofGangs],
      profiles: { 'default-scheduler': () => true, second: ({ name }) => name !== 'OfGangs' && name !== 'Breaks' },
    });
    const { profiles } = harness.core;
    const classes = new EquivalenceClasses({ clock: harness.clock, compare: (a, b) => profiles.compare(a, b) });
    const waiting = new Set<QueuedEntity>();
    /** The representative, which has left to be tried. */
    const gone = new Map<QueuedEntity, EquivalenceClass>();
    const names = [...extra.map(({ name }) => name), 'OfGangs', 'NodeResourcesFit', outsiders];
    const events = (): ClusterEvent[] => {
      const node = harness.build.projectedNode({ name: 'a', cpu: 4, labels: { color: pick(['red', 'blue']) } });
      const pod = harness.build.projectedPod({ nodeName: 'a' });
      return [
        { resource: 'Node', action: 'Add', old: undefined, new: node },
        { resource: 'Node', action: 'Update', old: node, new: node },
        { resource: 'AssignedPod', action: 'Delete', pod },
        { resource: 'UnscheduledPod', action: 'Update', pod, old: pod },
      ];
    };
    const release = (each: EquivalenceClass): void => {
      if (classes.release(each)) classes.wake(each);
    };
    const add = (entity: QueuedEntity): void => {
      const isShared = random() < 0.6;
      const pods = entity.rejection.rejectedPods;
      // Entities with equal demands have equal signatures.
      const key = isShared
        ? `${entity.schedulingEntity.kind} ${pods[0]!.schedulerName} ${pods[0]!.labels.color}`
        : undefined;
      const known = key === undefined ? undefined : classes.withKey(key);
      const joins = known?.isIdle === true && random() < 0.7;
      const unschedulablePlugins = new Set(names.filter(() => random() < 0.3));
      const pending = new Set([...unschedulablePlugins].filter(() => random() < 0.3));
      entity.rejection = joins ? known.rejection : { ...entity.rejection, unschedulablePlugins, pending };
      const before = classes.of(entity);
      const each = classes.add(entity, { key }, profiles.hints(entity.schedulingEntity));
      if (before !== undefined && before !== each) release(before);
      gone.delete(entity);
      waiting.add(entity);
    };
    for (let step = 0; step < 200; step++) {
      if (random() < 0.1) epoch++;
      const someone = waiting.size === 0 ? undefined : pick([...waiting]);
      switch (Math.floor(random() * 5)) {
        case 0:
        case 1: {
          const pod = harness.build.projectedPod({
            name: `p${step}`,
            cpu: pick([1, 2]),
            labels: { color: pick(['red', 'blue']) },
            schedulerName: pick(['default-scheduler', 'second']),
          });
          harness.cluster.setPod(pod);
          const rejection = {
            isGang: false,
            unschedulablePlugins: new Set<string>(),
            pending: new Set<string>(),
            rejectedPods: [pod],
          };
          const sortKey = { priority: 0, readySince: step, uid: pod.uid, incomplete: false };
          const known = { readySince: step, attempts: 1, rejections: 1, rejection };
          add(newEntity({ kind: 'pod', pod }, sortKey, step, known));
          break;
        }
        case 2:
          if (someone?.state.kind !== 'unschedulable') break;
          classes.leave(someone, someone.state);
          waiting.delete(someone);
          break;
        case 3: {
          const each = someone && classes.of(someone)!;
          if (each?.isIdle !== true) break;
          classes.wake(each);
          if (random() < 0.3) break;
          const first = classes.takeRepresentative(each)!;
          first.state = { kind: 'active' };
          waiting.delete(first);
          gone.set(first, each);
          break;
        }
        case 4: {
          const [[first, each] = []] = gone;
          if (first === undefined) break;
          if (random() < 0.5) {
            add(first);
          } else {
            gone.delete(first);
            release(each!);
          }
          for (const called of [...classes].filter(({ isWoken }) => isWoken)) {
            const next = classes.takeRepresentative(called);
            if (next === undefined) continue;
            next.state = { kind: 'active' };
            waiting.delete(next);
            gone.set(next, called);
          }
        }
      }
      expect(classes.size).toBe(waiting.size);
      const all = new Set(classes);
      expect([...all].reduce((sum, { size }) => sum + size, 0)).toBe(waiting.size);
      for (const entity of waiting) expect(all.has(classes.of(entity)!)).toBe(true);
      for (const each of all) expect(each.size > 0 || each.representative !== undefined).toBe(true);
      for (const event of events()) {
        const expected = [...all].filter(
          ({ isIdle, hints, rejection }) => isIdle && hints.retryAfter(event, rejection) !== undefined,
        );
        helped += expected.length;
        const found = classes.helpedBy(event);
        const missed = expected.filter((each) => !found.has(each));
        const dead = [...found].filter((each) => !expected.includes(each));
        expect([missed.length, dead.length], `${seed}/${step}: ${event.resource} ${event.action}`).toEqual([0, 0]);
        for (const each of found) {
          const retry = each.hints.retryAfter(event, each.rejection);
          expect(each.skipsBackoff).toBe(retry === 'atOnce');
          urgent += Number(each.skipsBackoff);
          each.skipsBackoff = false;
        }
      }
    }
    for (const entity of waiting) if (entity.state.kind === 'unschedulable') classes.leave(entity, entity.state);
    for (const each of gone.values()) classes.release(each);
    expect([classes.size, [...classes].length]).toEqual([0, 0]);
    for (const event of events()) expect(classes.helpedBy(event).size).toBe(0);
  }
  expect(helped).toBeGreaterThan(runs(1_000));
  expect(urgent).toBeGreaterThan(runs(100));
});
