import { expect, it } from 'vitest';
import type { Explanation } from '../../api/explain/explanation.ts';
import { rejectionCodes } from '../../api/rejection-code.ts';
import type { RejectionCode } from '../../api/rejection-code.ts';
import { runs } from '../../base/testing/runs.ts';
import { expectValidAnswer } from '../../../test/expect/valid-answer.ts';
import { ExplainedCluster, saysShortage, sentenceOf, sentencesOfShortage } from '../testing/explained-cluster.ts';
import type { ExplanationPart } from './explainer.ts';

/** More clusters: EXPLAIN_SEEDS=20000 vitest run --project unit src/scheduler/explain/explanations.property.test.ts */
const count = Number(process.env.EXPLAIN_SEEDS ?? runs(1_500));
const seeds = Array.from({ length: count }, (_, i) => 1 + i);

/** What is asked of one cluster whose group has not started. */
interface Case {
  readonly seed: number;
  readonly explanation: ExplanationPart;
  readonly nodeCount: number;
  /** A plan of now is that of the verdict. */
  readonly isCurrent: boolean;
}

let known: Promise<readonly Case[]> | undefined;

/** The tests share the cases, which take most of the time. */
function cases(): Promise<readonly Case[]> {
  return (known ??= explainAll());
}

async function explainAll(): Promise<readonly Case[]> {
  const found: Case[] = [];
  for (const seed of seeds) {
    const cluster = ExplainedCluster.of(seed);
    if (await cluster.run()) continue;
    const isCurrent = cluster.isVerdictCurrent;
    const nodeCount = cluster.scheduling.harness.cluster.nodes.length;
    found.push({ seed, explanation: cluster.explain(), nodeCount, isCurrent });
  }
  return found;
}

/** Only texts of verdicts show what extenders reject: explanations do not ask them, and say so in `unknowns`. */
function codesIn({ blocker, verdict }: ExplanationPart): ReadonlySet<RejectionCode> {
  const { funnel = [], nearest = [], rejection } = blocker ?? {};
  const codes = new Set([...funnel, ...nearest].flatMap(({ rejections }) => rejections.map(({ code }) => code)));
  if (rejection !== undefined) codes.add(rejection.code);
  if (verdict?.message.includes('extender outside: ') === true) codes.add('RejectedByExtender');
  return codes;
}

/** A plan asks Reserve only once, so that its sentence may name an older reason than a look at the node. */
function isFromReserve({ verdict }: ExplanationPart): boolean {
  return verdict?.message.includes('without a slot') === true;
}

it('WI1: the funnel adds up to all nodes, and the sentence of the verdict can be composed from it', async () => {
  /** code -> number of clusters in whose explanation it appears */
  const codes = new Map<RejectionCode, number>();
  let [explained, compared] = [0, 0];
  for (const { seed, explanation, nodeCount, isCurrent } of await cases()) {
    const { blocker, verdict, errors, placed, needed, waitsFor, unknowns } = explanation;
    expect(errors, `seed ${seed}`).toEqual([]);
    for (const code of codesIn(explanation)) codes.set(code, (codes.get(code) ?? 0) + 1);
    const basis = { source: 'scheduler', takenAt: '2026-01-01T00:00:00Z', ageSeconds: 0, unknowns } as const;
    const { unknowns: _, ...answer } = explanation;
    expectValidAnswer({ ...answer, basis } as Explanation, `of seed ${seed}`);
    if (blocker === undefined) {
      const isUndecided = ['members', 'gates', 'error'].includes(waitsFor ?? '') || unknowns.includes('extenders');
      expect(isUndecided || !isCurrent, `seed ${seed}`).toBe(true);
      continue;
    }
    expect(placed!, `seed ${seed}`).toBeLessThan(needed!);
    expect(blocker.nodes, `seed ${seed}`).toBe(nodeCount);
    if (blocker.rejection !== undefined) {
      if (isCurrent) expect(verdict!.message, `seed ${seed}`).toContain(blocker.rejection.message);
      continue;
    }
    explained++;
    let left = nodeCount;
    for (const row of blocker.funnel) {
      left -= row.removed;
      expect(row.left, `seed ${seed}`).toBe(left);
    }
    expect(left, `seed ${seed}`).toBe(0);
    expect(blocker.nearest.length, `seed ${seed}`).toBe(Math.min(5, nodeCount));
    if (!isCurrent || isFromReserve(explanation)) continue;
    compared++;
    expect(verdict!.message, `seed ${seed}`).toContain(`${blocker.member} `);
    expect(verdict!.message, `seed ${seed}`).toContain(sentenceOf(explanation));
  }
  expect(explained).toBeGreaterThan(count / 3);
  expect(compared).toBeGreaterThan(count / 3);
  // 500 of 20,000. In few clusters, each code need only appear.
  const enough = count < 2_000 ? 1 : Math.floor(count / 40);
  const found = Object.fromEntries(rejectionCodes.map((code) => [code, codes.get(code) ?? 0]));
  expect(
    rejectionCodes.filter((code) => found[code]! < enough),
    JSON.stringify(found),
  ).toEqual([]);
});

it('the numbers of a shortage in the verdict are those of the explanation', async () => {
  let compared = 0;
  for (const { seed, explanation, isCurrent } of await cases()) {
    const { verdict, shortages, waitsFor, unknowns } = explanation;
    if (!isCurrent) continue;
    if (verdict === undefined || waitsFor === 'turn' || unknowns.includes('extenders')) continue;
    const [first] = shortages;
    expect(saysShortage(verdict.message), `seed ${seed}: ${verdict.message}`).toBe(first !== undefined);
    if (first === undefined) continue;
    compared++;
    const isSaid = sentencesOfShortage(first).some((sentence) => verdict.message.includes(sentence));
    expect(isSaid, `seed ${seed}: ${verdict.message} ${JSON.stringify(first)}`).toBe(true);
  }
  expect(compared).toBeGreaterThan(count / 4);
});

it('WI7: the group starts after each change that should help', async () => {
  /** kind of remedy -> how often it was carried out */
  const tried = new Map<string, number>();
  for (const { seed, explanation } of await cases()) {
    for (const remedy of explanation.whatHelps) {
      const changed = ExplainedCluster.of(seed);
      await changed.run();
      const before = changed.planned;
      changed.change(remedy);
      const hasStarted = await changed.afterEvictions();
      // Another entity that comes first may use the capacity.
      if (!hasStarted && (changed.planned > before || changed.waitsForTurn)) continue;
      tried.set(remedy.kind, (tried.get(remedy.kind) ?? 0) + 1);
      expect(hasStarted, `seed ${seed}: ${JSON.stringify(remedy)}`).toBe(true);
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
