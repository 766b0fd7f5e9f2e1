import { expect, it } from 'vitest';
import { seededRandom } from '../base/random.ts';
import { runs } from '../base/testing/runs.ts';
import type { ClusterEvent } from '../framework/cluster-event.ts';
import { outsiders } from '../framework/event-hints.ts';
import type { Plugin } from '../framework/plugin.ts';
import { defaultPlugins } from '../plugins/registry.ts';
import { Picture } from '../testkit/picture.ts';
import type { Line } from './line.ts';
import { ParkedEntities } from './parked-entities.ts';
import { newEntity } from './queued-entity.ts';
import type { QueuedEntity } from './queued-entity.ts';

const actions = ['Add', 'Update'] as const;
/** What makes pods alike may change with the picture while they wait. */
let epoch = 0;
const extra: readonly Plugin[] = [
  {
    name: 'Signs',
    sign: ({ labels }) => `${epoch} ${labels.colour}`,
    filter: () => undefined,
    eventsToRegister: () => [
      { resource: 'Node', actions, hint: ({ labels }, event) => isOfColour(event, labels.colour) },
    ],
  },
  {
    name: 'SaysNothing',
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
      hint: ({ labels }) => labels.colour === 'red',
    },
  ],
};

function isOfColour(event: ClusterEvent, colour: string | undefined): boolean {
  return event.resource === 'Node' && event.action !== 'Delete' && event.new.labels.colour === colour;
}

it('finds whom an event may help as if each were asked, and keeps nothing of those who have gone', () => {
  let helped = 0;
  let urgent = 0;
  for (let seed = 1; seed <= runs(40); seed++) {
    const random = seededRandom(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
    const picture = new Picture({
      plugins: defaultPlugins,
      extra: [...extra, ofGangs],
      profiles: { 'default-scheduler': () => true, second: ({ name }) => name !== 'OfGangs' && name !== 'Breaks' },
    });
    const { profiles } = picture.core;
    const parked = new ParkedEntities({ clock: picture.clock, compare: (a, b) => profiles.compare(a, b) });
    const waiting = new Set<QueuedEntity>();
    /** The first of lines, gone to be tried. */
    const gone = new Map<QueuedEntity, Line>();
    const names = [...extra.map(({ name }) => name), 'OfGangs', 'NodeResourcesFit', outsiders];
    const events = (): ClusterEvent[] => {
      const node = picture.build.projectedNode({ name: 'a', cpu: 4, labels: { colour: pick(['red', 'blue']) } });
      const pod = picture.build.projectedPod({ nodeName: 'a' });
      return [
        { resource: 'Node', action: 'Add', old: undefined, new: node },
        { resource: 'Node', action: 'Update', old: node, new: node },
        { resource: 'AssignedPod', action: 'Delete', pod },
        { resource: 'UnscheduledPod', action: 'Update', pod, old: pod },
      ];
    };
    const release = (line: Line): void => {
      if (parked.release(line)) parked.call(line);
    };
    const add = (entity: QueuedEntity): void => {
      const isShared = random() < 0.6;
      const pods = entity.refusedPods;
      // Who asks for the same is alike to those who judge it.
      const question = isShared
        ? `${entity.candidate.kind} ${pods[0]!.schedulerName} ${pods[0]!.labels.colour}`
        : undefined;
      const known = question === undefined ? undefined : parked.asking(question);
      const joins = known?.isAtRest === true && random() < 0.7;
      entity.refusedBy = joins ? known.refusedBy : new Set(names.filter(() => random() < 0.3));
      entity.pending = joins ? known.pending : new Set([...entity.refusedBy].filter(() => random() < 0.3));
      if (joins) entity.refusedPods = known.refusedPods;
      const before = parked.lineOf(entity);
      const line = parked.add(entity, { question }, profiles.hints(entity.candidate));
      if (before !== undefined && before !== line) release(before);
      gone.delete(entity);
      waiting.add(entity);
    };
    for (let step = 0; step < 200; step++) {
      if (random() < 0.1) epoch++;
      const someone = waiting.size === 0 ? undefined : pick([...waiting]);
      switch (Math.floor(random() * 5)) {
        case 0:
        case 1: {
          const pod = picture.build.projectedPod({
            name: `p${step}`,
            cpu: pick([1, 2]),
            labels: { colour: pick(['red', 'blue']) },
            schedulerName: pick(['default-scheduler', 'second']),
          });
          picture.cluster.setPod(pod);
          const sortKey = { priority: 0, readySince: step, uid: pod.uid, incomplete: false };
          const known = { readySince: step, attempts: 1, refusals: 1, refusedPods: [pod] };
          add(newEntity({ kind: 'pod', pod }, sortKey, step, known));
          break;
        }
        case 2:
          if (someone?.state.kind !== 'unschedulable') break;
          parked.leave(someone, someone.state);
          waiting.delete(someone);
          break;
        case 3: {
          const line = someone && parked.lineOf(someone)!;
          if (line?.isAtRest !== true) break;
          parked.call(line);
          if (random() < 0.3) break;
          const first = parked.take(line)!;
          first.state = { kind: 'active' };
          waiting.delete(first);
          gone.set(first, line);
          break;
        }
        case 4: {
          const [[first, line] = []] = gone;
          if (first === undefined) break;
          if (random() < 0.5) {
            add(first);
          } else {
            gone.delete(first);
            release(line!);
          }
          for (const called of [...parked.lines()].filter(({ isCalled }) => isCalled)) {
            const next = parked.take(called);
            if (next === undefined) continue;
            next.state = { kind: 'active' };
            waiting.delete(next);
            gone.set(next, called);
          }
        }
      }
      expect(parked.size).toBe(waiting.size);
      const lines = new Set(parked.lines());
      expect([...lines].reduce((sum, { size }) => sum + size, 0)).toBe(waiting.size);
      for (const entity of waiting) expect(lines.has(parked.lineOf(entity)!)).toBe(true);
      for (const line of lines) expect(line.size > 0 || line.first !== undefined).toBe(true);
      for (const event of events()) {
        const expected = [...lines].filter(
          ({ isAtRest, hints, isGang, refusedBy, pending, refusedPods }) =>
            isAtRest && hints.retryAfter(event, { isGang, refusedBy, pending, refusedPods }) !== undefined,
        );
        helped += expected.length;
        const found = parked.helpedBy(event);
        const missed = expected.filter((line) => !found.has(line));
        const dead = [...found].filter((line) => !expected.includes(line));
        expect([missed.length, dead.length], `${seed}/${step}: ${event.resource} ${event.action}`).toEqual([0, 0]);
        for (const line of found) {
          const { hints, isGang, refusedBy, pending, refusedPods } = line;
          const retry = hints.retryAfter(event, { isGang, refusedBy, pending, refusedPods });
          expect(line.isUrgent).toBe(retry === 'atOnce');
          urgent += Number(line.isUrgent);
          line.isUrgent = false;
        }
      }
    }
    for (const entity of waiting) if (entity.state.kind === 'unschedulable') parked.leave(entity, entity.state);
    for (const line of gone.values()) parked.release(line);
    expect([parked.size, [...parked.lines()].length]).toEqual([0, 0]);
    for (const event of events()) expect(parked.helpedBy(event).size).toBe(0);
  }
  expect(helped).toBeGreaterThan(runs(1_000));
  expect(urgent).toBeGreaterThan(runs(100));
});
