import { expectBound, expectNeverBound, nodeOf } from '../expect/expect-bound.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { BackfillStage } from './backfill-stage.ts';
import { cpus, expectNotDeleted } from './preemption-stage.ts';
import { scenario } from './scenario.ts';

/** Pods that declare no end, or run for longer than declared. */
export const backfillEnds = {
  BF6: scenario(
    'BF6 - a gang behind pods without a declared end drains the nodes with the fewest of them',
    async (stage) => {
      const [a, b, c] = await stage.addNodes(cpus('a', 4), cpus('b', 4), cpus('c', 4));
      const turns = await BackfillStage.open(stage, { drainAfterMs: 600_000 });
      const unknown = [await turns.run('unknown-a', a!, { cpu: 1 }), await turns.run('unknown-b', b!, { cpu: 1 })];
      const many = [await turns.run('many-0', c!, { cpu: 1 }), await turns.run('many-1', c!, { cpu: 1 })];
      const gang = await turns.createGang('gang', 2);
      await expectVerdict(stage.record, gang, { reason: 'Unschedulable' });
      // Until then, nothing is reserved.
      const before = await turns.create('before', { cpu: 1 });
      await expectBound(stage.record, [before]);
      await turns.advanceSeconds(600);
      const says = '2 nodes reserved, draining pods that declare no end.';
      await expectVerdict(stage.record, gang, { reason: 'Unschedulable', says: [says] });
      await turns.expectPredicted('gang', 'Draining');
      const others = [0, 1, 2].map((index) => turns.create(`other-${index}`, { cpu: 1 }));
      const pods = await Promise.all(others);
      // Two CPUs are free on c, unless the first pod took one.
      const free = nodeOf(stage.record, before) === c ? 1 : 2;
      await stage.record.until(`${free} pods are bound`, 60_000, () => {
        const bound = pods.filter((key) => nodeOf(stage.record, key) !== undefined);
        if (bound.some((key) => nodeOf(stage.record, key) !== c)) throw new Error('a pod is on a node that is drained');
        return bound.length === free ? undefined : `${bound.length} are`;
      });
      const waiting = pods.filter((key) => nodeOf(stage.record, key) === undefined);
      await expectVerdict(stage.record, waiting, {
        reason: 'WaitingForTurn',
        says: [`Capacity is reserved for ${stage.namespace}/gang, which waits for pods that declare no end`],
      });
      if (nodeOf(stage.record, before) !== c) await turns.end(before);
      await turns.end(...unknown);
      await expectBound(stage.record, gang);
      for (const key of gang)
        if (nodeOf(stage.record, key) === c) throw new Error(`${key} is on the node with the most pods`);
      return () => expectNotDeleted(stage, [...unknown, ...many]);
    },
  ),

  BF13: scenario(
    'BF13 - when a pod runs for longer than declared, the predicted start moves, and no pod is deleted',
    async (stage) => {
      const [a] = await stage.addNodes(cpus('a', 4), cpus('b', 4));
      const turns = await BackfillStage.open(stage);
      const overrun = await turns.run('overrun', a!, { cpu: 4, runtime: 300 });
      const gang = await turns.createGang('gang', 2);
      await turns.expectTurn(gang, 'all ends declared');
      const first = await turns.expectPredicted('gang', 'Declared');
      const honest = await turns.create('honest', { cpu: 1, runtime: 60 });
      await expectBound(stage.record, [honest]);
      await turns.end(honest);
      await turns.advanceSeconds(400);
      await turns.expectPredicted('gang', 'Estimated', (at) => at > first);
      await expectVerdict(stage.record, gang, { reason: 'Unschedulable', says: ['(some ends are estimates)'] });
      const { record } = stage;
      await turns.expectMetric('tutti_runtime_overruns_total 1');
      // What pods of the namespace declare no longer counts.
      const next = await turns.create('next', { cpu: 1, runtime: 10 });
      await expectVerdict(record, [next], { reason: 'WaitingForTurn' });
      await turns.end(overrun);
      await expectBound(record, gang);
      return () => {
        expectNeverBound(record, [next]);
        expectNotDeleted(stage, [overrun, honest]);
      };
    },
  ),
} as const;
