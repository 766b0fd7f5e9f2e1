import { expect, it } from 'vitest';
import type { Explanation } from '../../api/explain/explanation.ts';
import type { RejectionCode } from '../../api/rejection-code.ts';
import { runs } from '../../base/testing/runs.ts';
import { expectValidAnswer } from '../../../test/expect/valid-answer.ts';
import { ExplainedCluster, sentenceOf } from '../testing/explained-cluster.ts';

/** More clusters: EXPLAIN_SEEDS=20000 vitest run --project unit src/scheduler/explain/explanations.property.test.ts */
const count = Number(process.env.EXPLAIN_SEEDS ?? runs(1_500));
const seeds = Array.from({ length: count }, (_, i) => 1 + i);

/** The codes that these clusters can give; the others need volumes, extenders, reservations or earlier failures. */
const ofNodes: readonly RejectionCode[] = [
  ...(['Cordoned', 'UntoleratedTaint', 'NodeAffinityMismatch', 'InsufficientResource', 'PortConflict'] as const),
  ...(['PodAffinityMismatch', 'PodAntiAffinityConflict', 'TopologySpreadViolated', 'TakenBySiblings'] as const),
];

it('WI1: the funnel adds up to all nodes, and the sentence of the verdict can be composed from it', async () => {
  /** code -> number of rows */
  const codes = new Map<RejectionCode, number>();
  let explained = 0;
  for (const seed of seeds) {
    const cluster = ExplainedCluster.of(seed);
    // A preemption reserves capacity, so that a plan of now differs from that of the verdict.
    if ((await cluster.run()) || cluster.scheduling.harness.preempted.length > 0) continue;
    const explanation = cluster.explain();
    const { blocker, verdict, errors, placed, needed } = explanation;
    expect(errors, `seed ${seed}`).toEqual([]);
    expect(placed!, `seed ${seed}`).toBeLessThan(needed!);
    expect(blocker!.nodes, `seed ${seed}`).toBe(cluster.nodeCount);
    if (blocker!.rejection !== undefined) continue;
    explained++;
    const basis = { source: 'scheduler', takenAt: '2026-01-01T00:00:00Z', ageSeconds: 0, unknowns: [] } as const;
    expectValidAnswer({ ...explanation, basis } as Explanation, `of seed ${seed}`);
    let left = cluster.nodeCount;
    for (const row of blocker!.funnel) {
      left -= row.removed;
      expect(row.left, `seed ${seed}`).toBe(left);
      for (const { code } of row.rejections) codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    expect(left, `seed ${seed}`).toBe(0);
    expect(verdict!.message, `seed ${seed}`).toContain(`${blocker!.member} `);
    expect(verdict!.message, `seed ${seed}`).toContain(sentenceOf(explanation));
    expect(blocker!.nearest.length, `seed ${seed}`).toBe(Math.min(5, cluster.nodeCount));
  }
  expect(explained).toBeGreaterThan(count / 4);
  for (const code of ofNodes) expect(codes.get(code) ?? 0, code).toBeGreaterThanOrEqual(Math.floor(count / 400));
});

it('WI7: the group starts after each change that should help', async () => {
  /** kind of remedy -> how often it was carried out */
  const tried = new Map<string, number>();
  for (const seed of seeds) {
    const cluster = ExplainedCluster.of(seed);
    if (await cluster.run()) continue;
    for (const remedy of cluster.explain().whatHelps) {
      tried.set(remedy.kind, (tried.get(remedy.kind) ?? 0) + 1);
      const started = await cluster.after(remedy).afterEvictions();
      expect(started, `seed ${seed}: ${JSON.stringify(remedy)}`).toBe(true);
    }
  }
  for (const kind of ['podsEnd', 'uncordon', 'addNodes', 'lowerMinMember', 'raisePriority'])
    expect(tried.get(kind) ?? 0, kind).toBeGreaterThan(count / 200);
});

it('explaining leaves no trace: later attempts and verdicts are the same', async () => {
  for (const seed of seeds.slice(0, count / 4)) {
    const [asked, silent] = [ExplainedCluster.of(seed), ExplainedCluster.of(seed)];
    await asked.run();
    await silent.run();
    const before = asked.scheduling.harness.capacities();
    asked.explain();
    expect(asked.scheduling.harness.capacities(), `seed ${seed}`).toEqual(before);
    for (const { scheduling } of [asked, silent]) {
      scheduling.node({ name: 'late', cpu: 2 });
      scheduling.harness.clock.advance(20_000);
    }
    await asked.run();
    await silent.run();
    const bound = ({ scheduling }: ExplainedCluster): readonly string[] =>
      scheduling.binds.map(({ binding }) => `${binding.name} ${binding.nodeName}`);
    expect(bound(asked), `seed ${seed}`).toEqual(bound(silent));
    expect(asked.scheduling.harness.verdicts, `seed ${seed}`).toEqual(silent.scheduling.harness.verdicts);
  }
});
