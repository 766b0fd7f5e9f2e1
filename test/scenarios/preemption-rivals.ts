import { expectBound, expectNeverBound, nodeOf } from '../expect/expect-bound.ts';
import {
  cpus,
  createGang,
  eventsOf,
  expectEvent,
  expectEvicted,
  expectNominated,
  expectNotDeleted,
  expectNotNominated,
  expectOutcome,
  expectUnmarked,
  fullNode,
  holdMarks,
  onlyOn,
} from './preemption-stage.ts';
import { scenario } from './scenario.ts';

/** Several pods and gangs that want the same capacity, or the same victims. */
export const preemptionRivals = {
  PE14: scenario(
    'PE14 - a gang loses all reserved capacity if a higher priority takes some of it, and no pod is evicted in vain',
    async (stage) => {
      const [a, free] = await stage.addNodes(cpus('a', 1), cpus('free', 1));
      const low = await stage.createPod('low', { cpu: 1, nodeName: a! });
      const proxy = await stage.openProxy();
      const { held, release } = holdMarks(proxy, low);
      const scheduler = await stage.startScheduler({ through: proxy });
      const high = await createGang(stage, 'high', { minMember: 2 });
      await held;
      const highest = await stage.createPod('highest', { cpu: 1, priority: 'highest' });
      await expectBound(stage.record, [highest]);
      if (nodeOf(stage.record, highest) !== free) throw new Error('it did not take the free node');
      release();
      await expectEvent(
        stage,
        `${stage.namespace}/high`,
        'PreemptionDisplaced',
        `displaced by pod ${highest} (priority 2000)`,
      );
      await expectOutcome(scheduler, 'displaced', 1);
      await expectUnmarked(stage, [low]);
      await expectNotNominated(stage, high);
      return () => {
        expectNotDeleted(stage, [low]);
        expectNeverBound(stage.record, high);
      };
    },
  ),

  PE21: scenario('PE21 - two gangs that could preempt the same gang share no victim', async (stage) => {
    const low = await fullNode(stage, { minMember: 4 }, { grace: 30 });
    const one = await createGang(stage, 'one', { minMember: 2 });
    await expectNominated(stage, one);
    await expectEvicted(stage, low, low);
    const two = await createGang(stage, 'two', { minMember: 2 });
    await expectNominated(stage, two);
    for (const key of low) await stage.deletePod(key);
    await expectBound(stage.record, [...one, ...two]);
    // Both gangs wait for the same pods, but only one has evicted them.
    const by = `(${stage.namespace}/one, priority 1000; whole group)`;
    for (const key of low) await expectEvent(stage, key, 'Preempted', by);
    return () => {
      const count = low.flatMap((key) => eventsOf(stage, key, 'Preempted')).length;
      if (count !== 4) throw new Error(`${count} Events of victims, expected 4`);
    };
  }),

  PE45: scenario(
    'PE45 - a pod takes capacity that is not reserved for a lower priority rather than such that is',
    async (stage) => {
      const [v, w] = await stage.addNodes(cpus('v', 1), cpus('w', 1), cpus('reserved', 1));
      const low = [
        await stage.createPod('low-v', { cpu: 1, grace: 30, nodeName: v! }),
        await stage.createPod('low-w', { cpu: 1, grace: 30, nodeName: w! }),
      ];
      await stage.startScheduler();
      const mid = await createGang(stage, 'mid', { minMember: 3 }, { priority: 'mid' });
      await expectNominated(stage, mid);
      await expectEvicted(stage, low, low);
      const [equal] = await stage.addNodes(cpus('equal', 1));
      const high = await stage.createPod('high', { cpu: 1, priority: 'high' });
      await expectBound(stage.record, [high]);
      if (nodeOf(stage.record, high) !== equal) throw new Error('it took reserved capacity');
      await expectNominated(stage, mid);
      for (const key of low) await stage.deletePod(key);
      await expectBound(stage.record, mid);
    },
  ),

  PE46: scenario(
    'PE46 - a reserved plan survives a preemption for a higher priority beside which it fits, and otherwise ends as a whole',
    async (stage) => {
      const [v, shared] = await stage.addNodes(cpus('v', 1), cpus('shared', 4));
      const slow = await stage.createPod('slow', { cpu: 1, grace: 30, nodeName: v! });
      const large = await stage.createPod('large', { cpu: '2500m', grace: 30, nodeName: shared!, priority: 'mid' });
      await stage.startScheduler();
      const mid = await createGang(stage, 'mid', { minMember: 2 }, { priority: 'mid' });
      await expectNominated(stage, mid);
      await expectEvicted(stage, [slow, large], [slow]);
      const one = await stage.createPod('one', { cpu: 3, priority: 'high', ...onlyOn(shared!) });
      await expectNominated(stage, [one]);
      await expectEvicted(stage, [slow, large], [slow, large]);
      await stage.deletePod(large);
      await expectBound(stage.record, [one]);
      await expectNominated(stage, mid);
      if (eventsOf(stage, `${stage.namespace}/mid`, 'PreemptionDisplaced').length > 0)
        throw new Error('mid was displaced');
      const two = await stage.createPod('two', { cpu: 1, priority: 'high', ...onlyOn(shared!) });
      await expectBound(stage.record, [two]);
      await expectEvent(
        stage,
        `${stage.namespace}/mid`,
        'PreemptionDisplaced',
        `displaced by pod ${two} (priority 1000)`,
      );
      await expectNotNominated(stage, mid);
      await stage.deletePod(slow);
      await stage.deletePod(two);
      await expectBound(stage.record, mid);
    },
  ),
} as const;
