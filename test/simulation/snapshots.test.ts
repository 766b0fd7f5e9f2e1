import process from 'node:process';
import { expect, it } from 'vitest';
import type { Snapshot } from '../../src/api/explain/snapshot.ts';
import { parseGroupKey } from '../../src/api/group-key.ts';
import { seededRandom } from '../../src/base/random.ts';
import { safeMessage } from '../../src/base/safe-text.ts';
import { openSnapshot } from '../../src/compose/snapshot/open-snapshot.ts';
import { replaySnapshot } from '../../src/compose/snapshot/replay-snapshot.ts';
import { snapshotConfigurationOf } from '../../src/config/snapshot-configuration.ts';
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
    expect(results.get('plan same')).toBeGreaterThan(moments);
    expect(results.get('verdict same')).toBeGreaterThan(moments / 4);
  },
);

/** What the scheduler has written about an entity. */
interface Written {
  readonly reason: string;
  readonly message: string;
  readonly waitsFor: string;
}

/** Log messages with which the scheduler reports a verdict. */
const reports: readonly string[] = [
  ...['unschedulable', 'still unschedulable', 'waiting for its turn', 'still waiting for its turn'],
];

/** Asks why after each rejection, and compares the answer with what the scheduler has written since. Returns the number of answers. */
async function explainRejections(seed: number): Promise<number> {
  let scheduler: Scheduler | undefined;
  /** entity -> its verdicts, in order */
  const written = new Map<string, Written[]>();
  const answers: Promise<boolean>[] = [];
  const ask = async (key: string, { length }: readonly Written[]): Promise<boolean> => {
    const { source, namespace, name } = parseGroupKey(key.slice('gang/'.length));
    const asked = await scheduler!.explain({ kind: 'PodGroup', source, namespace, name }).catch(() => undefined);
    const { verdict, waitsFor } = asked ?? {};
    if (verdict === undefined) return false;
    const candidates = written.get(key)!.slice(length - 1);
    const found = candidates.find(({ message, reason }) => message === verdict.message && reason === verdict.reason);
    // It may have become ready, or not ready, or one of several schedulers may have crashed in the meantime.
    if (found === undefined && verdict.reason === 'WaitingForGang') return false;
    expect(candidates, `seed ${seed}: ${key}`).toContainEqual(expect.objectContaining(verdict));
    if (found!.waitsFor !== 'unknown') expect(waitsFor, `seed ${seed}: ${key}`).toBe(found!.waitsFor);
    return true;
  };
  await runScenario(drawScenario(seed), {
    endsAtRest: true,
    watch: {
      started: (each) => {
        scheduler = each;
        written.clear();
      },
      committed: () => undefined,
      logged(message, fields) {
        const { entity, reason, waitsFor, verdict } = fields ?? {};
        if (!reports.includes(message) || !String(entity).startsWith('gang/')) return;
        const of = written.get(String(entity)) ?? [];
        written.set(String(entity), of);
        of.push({ reason: String(reason), message: safeMessage(String(verdict)), waitsFor: String(waitsFor) });
        answers.push(ask(String(entity), [...of]));
      },
    },
  });
  const late = new Promise<false>((resolve) => setTimeout(() => resolve(false), 0));
  const given = await Promise.all(answers.map((each) => Promise.race([each, late])));
  return given.filter(Boolean).length;
}

it('why says of each rejected group what the scheduler has written', { timeout: 20 * 60_000 }, async () => {
  let explained = 0;
  for (let seed = 1; explained < moments; seed++) explained += await explainRejections(seed);
  expect(explained).toBeGreaterThanOrEqual(moments);
});
