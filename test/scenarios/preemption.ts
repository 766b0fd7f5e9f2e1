import { expectBound, expectCountBound, nodeOf } from '../expect/expect-bound.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { hangsMs } from '../planes/patience.ts';
import { scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

/** Pods and gangs of high priority on a cluster that pods of low priority fill. The simulated nodes let evicted pods terminate. */
export const preemption = {
  PE1: scenario('PE1 - a pod preempts one member of a gang that has more than its quorum', async (stage) => {
    const low = await fullNode(stage, { minMember: 2 });
    const high = await stage.createPod('high', { cpu: 1, priority: 'high' });
    await expectBound(stage.record, [high]);
    return () => {
      expectLeft(stage, low, 3);
    };
  }),

  PE2: scenario('PE2 - a pod preempts a gang without surplus as a whole', async (stage) => {
    const low = await fullNode(stage, { minMember: 4 });
    const high = await stage.createPod('high', { cpu: 1, priority: 'high' });
    await expectBound(stage.record, [high]);
    await stage.record.until('the whole gang is gone', hangsMs, () => {
      const left = low.filter((key) => stage.record.pods.current.has(key));
      return left.length === 0 ? undefined : `${left.length} members are left`;
    });
  }),

  PE5: scenario('PE5 - a gang preempts no pods of equal priority', async (stage) => {
    const low = await fullNode(stage, { minMember: 1 });
    await stage.createGroup('equal', { minMember: 2 });
    const equal = await stage.createPods('equal', 2, { group: 'equal', cpu: 1 });
    await expectVerdict(stage.record, equal, {
      reason: 'Unschedulable',
      says: ['preemption: no pods of lower priority.'],
    });
    return () => {
      expectLeft(stage, low, 4);
    };
  }),

  PE7: scenario(
    'PE7 - a gang that would not fit even without the pods of lower priority preempts none',
    async (stage) => {
      const low = await fullNode(stage, { minMember: 1 });
      await stage.createGroup('high', { minMember: 8 });
      const high = await stage.createPods('high', 8, { group: 'high', cpu: 1, priority: 'high' });
      await expectVerdict(stage.record, high, {
        reason: 'Unschedulable',
        says: ['preemption: not helpful: 4 of 8 members fit even with 4 pods of lower priority gone.'],
      });
      return () => {
        expectLeft(stage, low, 4);
      };
    },
  ),

  PE9: scenario('PE9 - a gang uses free capacity and preempts only what it lacks', async (stage) => {
    await stage.addSimulatedNodes({ name: 'a', allocatable: { cpu: '2' } }, { name: 'b', allocatable: { cpu: '2' } });
    await stage.startScheduler();
    const low = await stage.createPods('low', 2, { cpu: '900m' });
    await expectBound(stage.record, low);
    await stage.createGroup('high', { minMember: 3 });
    const high = await stage.createPods('high', 3, { group: 'high', cpu: 1, priority: 'high' });
    await expectBound(stage.record, high);
    return () => {
      expectLeft(stage, low, 1);
    };
  }),

  PE21: scenario('PE21 - two gangs that could preempt the same pods share no victim', async (stage) => {
    const low = await fullNode(stage, { minMember: 1 });
    for (const name of ['one', 'two']) await stage.createGroup(name, { minMember: 2 });
    const one = await stage.createPods('one', 2, { group: 'one', cpu: 1, priority: 'high' });
    const two = await stage.createPods('two', 2, { group: 'two', cpu: 1, priority: 'high' });
    await expectBound(stage.record, [...one, ...two]);
    await expectCountBound(stage.record, low, 0);
  }),
} as const;

/** Starts a preempting scheduler, and a gang of four that fills the only node. Returns its members. */
async function fullNode(stage: Stage, spec: { readonly minMember: number }): Promise<string[]> {
  await stage.addSimulatedNodes({ name: 'node', allocatable: { cpu: '4' } });
  await stage.startScheduler();
  await stage.createGroup('low', spec);
  const low = await stage.createPods('low', 4, { group: 'low', cpu: 1 });
  await expectBound(stage.record, low);
  return low;
}

function expectLeft({ record }: Stage, pods: readonly string[], count: number): void {
  const left = pods.filter((key) => nodeOf(record, key) !== undefined);
  if (left.length !== count) throw new Error(`${left.length} of ${pods.length} pods are left, expected ${count}`);
}
