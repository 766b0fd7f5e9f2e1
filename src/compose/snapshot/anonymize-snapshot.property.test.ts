import { expect, it } from 'vitest';
import type { Snapshot } from '../../api/explain/snapshot.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { runs } from '../../base/testing/runs.ts';
import { anonymizeSnapshot } from './anonymize-snapshot.ts';
import { knownFields } from './known-fields.ts';
import { openSnapshot } from './open-snapshot.ts';
import { differs, replaySnapshot } from './replay-snapshot.ts';
import { snapshotSchema } from './snapshot-file.ts';
import { BusyCluster } from './testing/busy-cluster.ts';
import { snapshotOf, snapshotOfDrawn } from './testing/snapshot-of.ts';

/** More clusters: EXPLAIN_SEEDS=20000 vitest run --project unit-apart src/compose/snapshot/anonymize-snapshot.property.test.ts */
const count = Number(process.env.EXPLAIN_SEEDS ?? runs(400));
const seeds = Array.from({ length: count }, (_, i) => 1 + i);

const schema = snapshotSchema();

function expectSamePlans(original: Snapshot, what: string): void {
  expect(knownFields(original, schema), what).toEqual(original);
  const { snapshot, changedPlans } = anonymizeSnapshot(original);
  expect(changedPlans, what).toBe(0);
  const before = replaySnapshot(openSnapshot(original, new VirtualClock()));
  const after = replaySnapshot(openSnapshot(snapshot, new VirtualClock()));
  expect(differs(after), `${what}: ${JSON.stringify(after.items.filter((item) => item.differences.length > 0))}`).toBe(
    false,
  );
  const results = ({ items }: typeof before): unknown => items.map(({ plan, verdict }) => [plan, verdict]);
  expect(results(after), what).toEqual(results(before));
}

it('WI24: an anonymized snapshot of a quiet cluster replays with the same plans and verdicts', async () => {
  for (const seed of seeds) {
    const snapshot = await snapshotOfDrawn(seed);
    if (snapshot !== undefined) expectSamePlans(snapshot, `seed ${seed}`);
  }
});

it('WI24: an anonymized snapshot at a random moment replays with the same plans and verdicts', async () => {
  for (const seed of seeds) {
    const { core } = (await BusyCluster.at(seed)).scheduling.harness;
    expectSamePlans(snapshotOf(core), `seed ${seed}`);
  }
});
