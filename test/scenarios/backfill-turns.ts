import { expectBound, expectNeverBound } from '../expect/expect-bound.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { poll } from '../planes/poll.ts';
import { BackfillStage } from './backfill-stage.ts';
import { cpus, onlyOn } from './preemption-stage.ts';
import { scenario } from './scenario.ts';

const poolLabel = 'example.com/pool';

/** Whose turn it is, and how a turn ends before the start. */
export const backfillTurns = {
  BF4: scenario('BF4 - when a gang with a turn is deleted, its reservations end at once', async (stage) => {
    const [a] = await stage.addNodes(cpus('a', 4), cpus('b', 4));
    const turns = await BackfillStage.open(stage);
    await turns.run('busy', a!, { cpu: 4, runtime: 600 });
    const gang = await turns.createGang('gang', 2);
    await turns.expectTurn(gang, '2 nodes reserved');
    const late = await turns.create('late', { cpu: 4 });
    await expectVerdict(stage.record, [late], { reason: 'WaitingForTurn' });
    // One member fewer, and the gang can no longer start.
    await stage.deletePod(gang[1]!);
    await expectBound(stage.record, [late]);
    await turns.expectNotPredicted('gang');
    await turns.expectMetric('tutti_backfill_turn_outcomes_total{outcome="withdrawn"} 1');
    return () => expectNeverBound(stage.record, gang.slice(0, 1));
  }),

  BF7: scenario(
    'BF7 - after a restart, the same gang has its turn with the same predicted start, and no other has one in between',
    async (stage) => {
      const [a] = await stage.addNodes(cpus('a', 4), cpus('b', 4));
      const turns = await BackfillStage.open(stage);
      const busy = await turns.run('busy', a!, { cpu: 4, runtime: 600 });
      const gang = await turns.createGang('gang', 2);
      await turns.expectTurn(gang, '2 nodes reserved');
      const first = await turns.expectPredicted('gang', 'Declared');
      // The order after a restart is that of the creation times, which have no fractions of seconds.
      const second = Math.floor(Date.now() / 1_000);
      await poll(() => Promise.resolve(Date.now() / 1_000 > second + 1 ? undefined : 'not yet'), 'the next second');
      const rival = await turns.createGang('rival', 2);
      const late = await turns.create('late', { cpu: 4 });
      await expectVerdict(stage.record, rival, { reason: 'Unschedulable' });
      await expectVerdict(stage.record, [late], { reason: 'WaitingForTurn' });
      await turns.restartScheduler();
      const begun = turns.clock.monotonic();
      await turns.expectMetric('tutti_backfill_turns_total 1');
      if (turns.clock.monotonic() > begun + 45_000) throw new Error('it took more than 45 s');
      const again = await turns.expectPredicted('gang', 'Declared');
      if (again !== first) throw new Error(`the predicted start moved by ${again - first} ms`);
      await turns.advanceSeconds(600);
      await turns.end(busy);
      await expectBound(stage.record, gang);
      return () => {
        expectNeverBound(stage.record, [...rival, late]);
        turns.expectOneTurnAtATime([gang, rival, [late]]);
      };
    },
  ),

  BF14: scenario(
    'BF14 - in each pool, one pod or gang at a time has its turn, and one that may run in both has it in one',
    async (stage) => {
      const [x, y] = await stage.addNodes(
        { ...cpus('x', 4), labels: { [poolLabel]: 'x' } },
        { ...cpus('y', 4), labels: { [poolLabel]: 'y' } },
      );
      const turns = await BackfillStage.open(stage, { poolLabel });
      const busy = [
        await turns.run('busy-x', x!, { cpu: 1, runtime: 1_200 }),
        await turns.run('busy-y', y!, { cpu: 1, runtime: 600 }),
      ];
      const both = await turns.createGang('both', 1);
      await turns.expectTurn(both, '1 node reserved');
      const only = await turns.createGang('only', 1, { nodeSelector: { [poolLabel]: 'x' } });
      await turns.expectTurn(only, '1 node reserved');
      const third = await turns.createGang('third', 1);
      await expectVerdict(stage.record, third, { reason: 'Unschedulable' });
      const { namespace } = stage;
      const [onX, onY] = [
        await turns.create('on-x', { cpu: 1, ...onlyOn(x!) }),
        await turns.create('on-y', { cpu: 1, ...onlyOn(y!) }),
      ];
      // The gang that may run in both starts sooner in y.
      await expectVerdict(stage.record, [onX], { reason: 'WaitingForTurn', says: [`reserved for ${namespace}/only`] });
      await expectVerdict(stage.record, [onY], { reason: 'WaitingForTurn', says: [`reserved for ${namespace}/both`] });
      turns.expectNeverPredicted(third);
      await turns.expectMetric('tutti_backfill_turns_total 2');
      await turns.advanceSeconds(600);
      await turns.end(busy[1]!);
      await expectBound(stage.record, both);
      await turns.advanceSeconds(600);
      await turns.end(busy[0]!);
      await expectBound(stage.record, only);
      return () => expectNeverBound(stage.record, third);
    },
  ),

  BF15: scenario(
    'BF15 - a gang of higher priority takes the turn, and the reservations of the other end as a whole',
    async (stage) => {
      const [a, b, c] = await stage.addNodes(cpus('a', 4), cpus('b', 4), cpus('c', 4));
      const turns = await BackfillStage.open(stage);
      const busy = [
        await turns.run('busy-a', a!, { cpu: 4, runtime: 600 }),
        await turns.run('busy-b', b!, { cpu: 4, runtime: 1_200 }),
      ];
      const low = await turns.createGang('low', 3);
      await turns.expectTurn(low, '3 nodes reserved');
      const late = await turns.create('late', { cpu: 4, ...onlyOn(c!) });
      await expectVerdict(stage.record, [late], {
        reason: 'WaitingForTurn',
        says: [`reserved for ${stage.namespace}/low`],
      });
      const high = await turns.createGang('high', 1, { priority: 'never', ...onlyOn(a!) });
      await turns.expectTurn(high, '1 node reserved');
      await turns.expectNotPredicted('low');
      await turns.expectMetric('tutti_backfill_turn_outcomes_total{outcome="displaced"} 1');
      // Node c, which only the gang of low priority had reserved, is free.
      await expectBound(stage.record, [late]);
      await turns.advanceSeconds(600);
      await turns.end(busy[0]!);
      await expectBound(stage.record, high);
      return () => expectNeverBound(stage.record, low);
    },
  ),

  BF16: scenario('BF16 - a gang that can never fit has no turn, and holds up no other', async (stage) => {
    const [a] = await stage.addNodes(cpus('a', 4), cpus('b', 4));
    const turns = await BackfillStage.open(stage);
    const busy = await turns.run('busy', a!, { cpu: 4, runtime: 600 });
    const never = await turns.createGang('never', 3);
    await expectVerdict(stage.record, never, {
      reason: 'Unschedulable',
      says: ['It would not fit even if all other pods were gone.'],
    });
    const behind = await turns.createGang('behind', 2);
    await turns.expectTurn(behind, '2 nodes reserved');
    await turns.advanceSeconds(600);
    await turns.end(busy);
    await expectBound(stage.record, behind);
    return () => {
      turns.expectNeverPredicted(never);
      expectNeverBound(stage.record, never);
    };
  }),
} as const;
