import process from 'node:process';
import { expect, it } from 'vitest';
import type { Scheduler } from '../../src/scheduler/scheduler.ts';
import { groupsIn, podsIn, tallyOf } from './checks/plain-group.ts';
import { groupNameOfKey } from './checks/plain-objects.ts';
import type { PlainGroup } from './checks/plain-objects.ts';
import { drawScenario } from './draw-scenario.ts';
import { runScenario } from './run-scenario.ts';
import type { StoreRecord } from './world/record.ts';

/** More seeds: TIMELINE_SEEDS=1000 vitest run --mode properties test/simulation/timeline.test.ts */
const seeds = Number(process.env.TIMELINE_SEEDS ?? 100);

/** What the seeds went through. */
const counts = { settled: 0, partialTransitions: 0 };

/** Returns name -> bound members, for those of the groups that never started and have from one to minMember - 1 members bound. */
function partialIn(
  record: StoreRecord,
  started: ReadonlySet<string>,
  groups: Iterable<PlainGroup> = groupsIn(record),
): Map<string, number> {
  const pods = podsIn(record);
  return new Map(
    [...groups].flatMap((group) => {
      const { bound } = tallyOf(group, pods);
      const isPartial = !started.has(group.uid) && bound.length > 0 && bound.length < group.minMember;
      return isPartial ? [[group.name, bound.length] as const] : [];
    }),
  );
}

/** As the checkers name a group. */
function nameOf(key: string): string {
  return groupNameOfKey(key.slice('gang/'.length));
}

async function compare(seed: number): Promise<void> {
  const schedulers = new Set<Scheduler>();
  /** Groups that were partially bound at any time, with the number of bound members: `red 2`. */
  const everPartial = new Set<string>();
  /** name -> the latest group of that name. The scheduler may bind members of a group of which it does not know yet that it is gone. */
  const groups = new Map<string, PlainGroup>();
  const { violations } = await runScenario(drawScenario(seed), {
    endsAtRest: true,
    watch: {
      started: (scheduler) => schedulers.add(scheduler),
      committed(record, started) {
        for (const group of groupsIn(record)) groups.set(group.name, group);
        for (const [name, bound] of partialIn(record, started, groups.values())) everPartial.add(`${name} ${bound}`);
      },
      settled(record, started) {
        const stored = [...partialIn(record, started).keys()].sort();
        // A scheduler that has crashed still exists, and seems to lead.
        const leading = [...schedulers]
          .filter(({ isReady }) => isReady)
          .map((scheduler) => scheduler.state.timeline.snapshot())
          .sort((a, b) => b.heldSince - a.heldSince);
        const [leader] = leading;
        if (leader === undefined) return;
        const rows = [...leader.entities].filter(({ subject }) => subject.kind === 'PodGroup');
        // A new leader may not know that a group has started: nothing that it received shows the quorum, or only a condition that anyone can write.
        const startOf = new Map(groupsIn(record).map(({ name, uid }) => [name, started.has(uid)]));
        const missed = new Set(
          rows
            .map(({ key, counts: of }) => [nameOf(key), of?.started === true] as const)
            .filter(([name, isStarted]) => !isStarted && startOf.get(name) === true)
            .map(([name]) => name),
        );
        const partial = rows.filter(({ state }) => state === 'Partial').map(({ key }) => nameOf(key));
        expect(partial.filter((name) => !missed.has(name)).sort(), `seed ${seed}`).toEqual(stored);
        counts.settled++;
        const lanes = new Map(rows.map((row) => [row.key, row]));
        const latest = new Map<string, string>();
        for (const { entity, state, counts: of } of leader.transitions) {
          latest.set(entity, state);
          if (state !== 'Partial' || missed.has(nameOf(entity))) continue;
          counts.partialTransitions++;
          expect(everPartial, `seed ${seed}: ${entity}`).toContain(`${nameOf(entity)} ${of!.bound}`);
        }
        for (const [key, state] of latest) {
          const row = lanes.get(key);
          if (row !== undefined) expect([key, state], `seed ${seed}`).toEqual([key, row.state]);
        }
      },
    },
  });
  expect(violations, `seed ${seed}`).toEqual([]);
}

it(
  'the timeline shows a group as partially bound only as the store did, and at rest exactly as it does',
  { timeout: 20 * 60_000 },
  async () => {
    for (let seed = 1; seed <= seeds; seed++) await compare(seed);
    expect(counts.settled).toBeGreaterThan(seeds / 2);
    expect(counts.partialTransitions).toBeGreaterThan(seeds);
  },
);
