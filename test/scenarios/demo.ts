import { expectBound, expectCountBound, expectNeverBound } from '../expect/expect-bound.ts';
import { expectPhase } from '../expect/expect-phase.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

/**
 * The examples of upstream's documentation, on nodes that run pods. There, Deployments create the pods. Here, the test creates them, and
 * scaling up means creating one more.
 */
export const demo = {
  D1: scenario(
    'with capacity for three of six members, a quorum of three runs and three members wait',
    async (stage) => {
      await capacityForThree(stage);
      const group = await stage.createGroup('web', { minMember: 3 });
      const pods = await stage.createPods('web', 6, { group: 'web', ...size });
      await expectCountBound(stage.record, pods, 3);
      await expectPhase(stage.record, group, 'Running', { running: 3, members: 6, scheduled: 3, failed: 0 });
      const left = pods.filter((key) => stage.record.pods.current.get(key)?.spec.nodeName === undefined);
      await expectVerdict(stage.record, left, { reason: 'Unschedulable', says: ['Insufficient cpu'] });
      return () => expectNeverBound(stage.record, left);
    },
  ),

  D2: scenario('with capacity for three of six members, a quorum of four waits as a whole', async (stage) => {
    await capacityForThree(stage);
    const group = await stage.createGroup('web', { minMember: 4 });
    const pods = await stage.createPods('web', 6, { group: 'web', ...size });
    await expectVerdict(stage.record, pods, { reason: 'Unschedulable', says: ['Insufficient cpu'] });
    await expectPhase(stage.record, group, 'Scheduling', { running: 0, members: 6, scheduled: 0 });
    return () => expectNeverBound(stage.record, pods);
  }),

  D3: scenario('two pods of a quorum of three wait, and all run soon after the third is created', async (stage) => {
    await capacityForThree(stage);
    const group = await stage.createGroup('web', { minMember: 3 });
    const pods = await stage.createPods('web', 2, { group: 'web', ...size });
    await expectVerdict(stage.record, pods, { reason: 'WaitingForGang', says: ['has 2 of the 3 members'] });
    await expectPhase(stage.record, group, 'Pending', { running: 0, members: 2, scheduled: 0 });
    expectNeverBound(stage.record, pods);
    pods.push(await stage.createPod('web-2', { group: 'web', ...size }));
    await expectBound(stage.record, pods);
    await expectPhase(stage.record, group, 'Running', { running: 3, members: 3, scheduled: 3 });
  }),

  // Upstream keeps a group bound that lacks at most 10% of its quorum (92 of 100 kept, 80 rejected), in case the rest arrives before the
  // time-out. Tutti reserves nothing between attempts, so both have 0 bound members, and other pods can use the capacity.
  D4: scenario(
    'a group that lacks capacity for 8 of its 100 members keeps no capacity for the other 92',
    async (stage) => {
      const [node] = await stage.addNodes({ name: 'large', allocatable: { cpu: '92', memory: '8Gi', pods: '110' } });
      await stage.startScheduler();
      await stage.createGroup('web', { minMember: 100 });
      const pods = await Promise.all(
        Array.from({ length: 100 }, (_, index) => stage.createPod(`web-${index}`, { group: 'web', cpu: 1 })),
      );
      await expectVerdict(stage.record, pods, {
        reason: 'Unschedulable',
        says: ['92 of 100 members', 'Insufficient cpu'],
      });
      expectNeverBound(stage.record, pods);
      await expectBound(stage.record, [await stage.createPod('other', { cpu: 92 })]);
      await stage.setNodeStatus(node!, { allocatable: { cpu: '172' } }); // 80 for the group
      // A later pod that fits neither waits for the group nor takes capacity that it needs.
      await expectBound(stage.record, [await stage.createPod('another', { cpu: 1 })]);
      expectNeverBound(stage.record, pods);
      await stage.setNodeStatus(node!, { allocatable: { cpu: '193' } });
      await expectBound(stage.record, pods);
    },
  ),
} as const satisfies Record<string, Scenario>;

const size = { cpu: 3, memory: '500Mi' } as const;

async function capacityForThree(stage: Stage): Promise<void> {
  await stage.addSimulatedNodes({ name: 'capacity-for-three', allocatable: { cpu: '10', memory: '8Gi' } });
  await stage.startController();
  await stage.startScheduler();
}
