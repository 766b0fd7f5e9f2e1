import process from 'node:process';
import { expect, it } from 'vitest';
import type { Snapshot } from '../../src/api/explain/snapshot.ts';
import { seededRandom } from '../../src/base/random.ts';
import { openSnapshot } from '../../src/compose/snapshot/open-snapshot.ts';
import { replaySnapshot } from '../../src/compose/snapshot/replay-snapshot.ts';
import { snapshotConfigurationOf } from '../../src/compose/snapshot/snapshot-configuration.ts';
import { defaultConfiguration } from '../../src/config/scheduler-configuration.ts';
import type { ProfileConfiguration } from '../../src/config/scheduler-configuration.ts';
import type { Scheduler } from '../../src/scheduler/scheduler.ts';
import { snapshotText } from '../../src/scheduler/snapshot/snapshot-text.ts';
import { drawScenario } from './draw-scenario.ts';
import { runScenario } from './run-scenario.ts';

/** More moments: SNAPSHOT_MOMENTS=10000 vitest run --mode properties test/simulation/snapshots.test.ts */
const moments = Number(process.env.SNAPSHOT_MOMENTS ?? 1_000);
/** Mean number of writes to the API server between two snapshots. */
const writesPerSnapshot = 12;

/** Runs a scenario and takes snapshots at random moments, as the endpoint of the scheduler does. */
async function snapshotsOf(seed: number): Promise<readonly Snapshot[]> {
  const random = seededRandom(seed);
  const schedulers = new Map<Scheduler, readonly ProfileConfiguration[]>();
  const taken: Promise<Snapshot | undefined>[] = [];
  const take = async (
    scheduler: Scheduler,
    profiles: readonly ProfileConfiguration[],
  ): Promise<Snapshot | undefined> => {
    try {
      const source = await scheduler.takeSnapshot();
      const { configuration } = snapshotConfigurationOf(defaultConfiguration({ profiles }));
      const header = { tuttiVersion: '1.2.3', source: 'scheduler' as const, unknowns: [], configuration };
      return JSON.parse([...snapshotText(source, header)].join('')) as Snapshot;
    } catch {
      // It does not lead, has stopped, or takes a snapshot already.
      return undefined;
    }
  };
  const { violations } = await runScenario(drawScenario(seed), {
    endsAtRest: true,
    watch: {
      started: (scheduler, profiles) => schedulers.set(scheduler, profiles),
      committed() {
        if (random() * writesPerSnapshot >= 1) return;
        for (const [scheduler, profiles] of schedulers) if (scheduler.isReady) taken.push(take(scheduler, profiles));
      },
    },
  });
  expect(violations, `seed ${seed}`).toEqual([]);
  // A scheduler that crashes in the simulation never answers.
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 0));
  return (await Promise.all(taken.map((each) => Promise.race([each, late])))).filter((each) => each !== undefined);
}

it(
  'WI22: snapshots at random moments of the simulation replay without a difference',
  { timeout: 20 * 60_000 },
  async () => {
    /** result -> number */
    const results = new Map<string, number>();
    let count = 0;
    for (let seed = 1; count < moments; seed++) {
      for (const snapshot of await snapshotsOf(seed)) {
        count++;
        for (const { subject, plan, verdict, differences } of replaySnapshot(openSnapshot(snapshot, { now: () => 0 }))
          .items) {
          expect(differences, `seed ${seed}: ${subject.name} at ${snapshot.takenAt}`).toEqual([]);
          for (const result of [`plan ${plan}`, `verdict ${verdict}`])
            results.set(result, (results.get(result) ?? 0) + 1);
        }
      }
    }
    console.log(count, results);
    expect(results.get('plan same')).toBeGreaterThan(moments);
    expect(results.get('verdict same')).toBeGreaterThan(moments / 4);
  },
);
