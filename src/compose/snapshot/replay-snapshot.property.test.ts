import { expect, it } from 'vitest';
import { runs } from '../../base/testing/runs.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { expectValidAnswer } from '../../../test/expect/valid-answer.ts';
import { openSnapshot } from './open-snapshot.ts';
import { replaySnapshot } from './replay-snapshot.ts';
import { packSnapshot, unpackSnapshot } from './snapshot-file.ts';
import { BusyCluster } from './testing/busy-cluster.ts';
import { snapshotOf, snapshotOfDrawn } from './testing/snapshot-of.ts';

/** More clusters: EXPLAIN_SEEDS=20000 vitest run --project unit src/compose/snapshot/replay-snapshot.property.test.ts */
const count = Number(process.env.EXPLAIN_SEEDS ?? runs(1_000));
const seeds = Array.from({ length: count }, (_, i) => 1 + i);

it('WI22: a snapshot reproduces all recorded plans and verdicts', async () => {
  /** result of a verdict -> number */
  const verdicts = new Map<string, number>();
  for (const seed of seeds) {
    const taken = await snapshotOfDrawn(seed);
    if (taken === undefined) continue;
    // Reading a file checks it with the schema, which takes long.
    const snapshot = seed % 50 === 0 ? unpackSnapshot(packSnapshot(taken)) : taken;
    const replay = replaySnapshot(openSnapshot(snapshot, new VirtualClock()));
    expectValidAnswer(replay, `of seed ${seed}`);
    for (const { verdict, differences } of replay.items) {
      expect(differences, `seed ${seed}`).toEqual([]);
      verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
    }
  }
  // The other clusters have plugins or extenders of others, or verdicts that rest on what only their scheduler remembers.
  expect(verdicts.get('same')).toBeGreaterThan(count / 8);
});

it('WI22: snapshots at random moments replay without a difference', async () => {
  /** result of a verdict or plan -> number */
  const found = new Map<string, number>();
  const note = (what: string): void => void found.set(what, (found.get(what) ?? 0) + 1);
  for (const seed of seeds) {
    const { core } = (await BusyCluster.at(seed)).scheduling.harness;
    const replay = replaySnapshot(openSnapshot(snapshotOf(core), new VirtualClock()));
    for (const { verdict, plan, differences, subject } of replay.items) {
      expect(differences, `seed ${seed}: ${subject.name}`).toEqual([]);
      note(`verdict ${verdict}`);
      note(`plan ${plan}`);
    }
  }
  expect(found.get('plan same')).toBeGreaterThan(2 * count);
  expect(found.get('verdict same')).toBeGreaterThan(count / 4);
});
