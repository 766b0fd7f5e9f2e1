import { expect, it } from 'vitest';
import { runs } from '../../base/testing/runs.ts';
import { ExplainedCluster } from '../../scheduler/testing/explained-cluster.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { expectValidAnswer } from '../../../test/expect/valid-answer.ts';
import { openSnapshot } from './open-snapshot.ts';
import { replaySnapshot } from './replay-snapshot.ts';
import { packSnapshot, unpackSnapshot } from './snapshot-file.ts';
import { snapshotOf } from './testing/snapshot-of.ts';

/** More clusters: EXPLAIN_SEEDS=20000 vitest run --project unit src/compose/snapshot/replay-snapshot.property.test.ts */
const count = Number(process.env.EXPLAIN_SEEDS ?? runs(1_000));
const seeds = Array.from({ length: count }, (_, i) => 1 + i);

it('WI22: a snapshot reproduces all recorded plans and verdicts', async () => {
  /** result of a verdict -> number */
  const verdicts = new Map<string, number>();
  for (const seed of seeds) {
    const cluster = ExplainedCluster.of(seed);
    await cluster.run();
    const { core } = cluster.scheduling.harness;
    const snapshot = unpackSnapshot(packSnapshot(snapshotOf(core)));
    const replay = replaySnapshot(openSnapshot(snapshot, new VirtualClock()));
    expectValidAnswer(replay, `of seed ${seed}`);
    for (const { verdict, differences } of replay.items) {
      expect(differences, `seed ${seed}`).toEqual([]);
      verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
    }
  }
  console.log(verdicts);
  expect(verdicts.get('same')).toBeGreaterThan(count / 2);
});
