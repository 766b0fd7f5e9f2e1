import { expectBound, expectCountBound, expectNeverBound } from '../expect/expect-bound.ts';
import { expectGroupCondition, expectPhase } from '../expect/expect-phase.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { attemptsOf } from './attempts.ts';
import { poll } from '../planes/poll.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import { hangsMs } from '../planes/patience.ts';

const gpu = 'example.com/gpu';

/** Problems that users of other gang schedulers reported and that must not occur here. */
export const extra = {
  X1: scenario(
    'a group that does not fit because of fragmentation is tried once per change and reserves nothing',
    async (stage) => {
      const free = [6, 2, 2, 2]; // 12 in total, but only one node fits a member
      await stage.addNodes(
        ...free.map((amount, index) => ({ name: `gpu-${index}`, allocatable: { cpu: '16', [gpu]: amount } })),
      );
      const scheduler = await stage.startScheduler();
      await stage.createGroup('train', { minMember: 3 });
      const gang = await stage.createPods('train', 3, { group: 'train', requests: { [gpu]: 4 }, priority: 'high' });
      const says = ['1 of 3 members would fit', `Insufficient ${gpu}`];
      await expectVerdict(stage.record, gang, { reason: 'Unschedulable', says });
      const before = await attemptsOf(scheduler, 'unschedulable');
      // Together they need all 12: no capacity may be reserved.
      const small = await stage.createPods('small', 12, { requests: { [gpu]: 1 } });
      await expectBound(stage.record, small);
      const after = await attemptsOf(scheduler, 'unschedulable');
      // None of these pods frees capacity, so there is no reason to retry the group.
      if (after.groups !== before.groups)
        throw new Error(`the group was tried ${after.groups - before.groups} more times without a reason`);
      // This change frees capacity, but not enough.
      await stage.deletePod(small[0]!);
      await stage.createPod('again', { requests: { [gpu]: 1 } });
      await expectBound(stage.record, [`${stage.namespace}/again`]);
      const later = await attemptsOf(scheduler, 'unschedulable');
      // The server may show a deletion in two steps: the pod terminates, which may help preemption, and then it is gone.
      if (later.groups > after.groups + 2)
        throw new Error(`the group was tried ${later.groups - after.groups} times for one change`);
      return () => expectNeverBound(stage.record, gang);
    },
  ),

  X3: scenario('a small, younger group does not wait for a large one that cannot start', async (stage) => {
    await stage.addNodes({ name: 'ten', allocatable: { cpu: '10' } });
    await stage.startScheduler();
    await stage.createGroup('large', { minMember: 3 });
    const large = await stage.createPods('large', 3, { group: 'large', cpu: 4 });
    await expectVerdict(stage.record, large, { reason: 'Unschedulable', says: ['2 of 3 members would fit'] });
    await stage.createGroup('small', { minMember: 1 });
    await expectBound(stage.record, await stage.createPods('small', 1, { group: 'small', cpu: 3 }));
    return () => expectNeverBound(stage.record, large);
  }),

  X6: scenario(
    'a group that lacks capacity for one of its ten members reserves none for the other nine',
    async (stage) => {
      await stage.addNodes({ name: 'nine', allocatable: { cpu: '9' } }, { name: 'half', allocatable: { cpu: '500m' } });
      await stage.startScheduler();
      await stage.createGroup('ten', { minMember: 10 });
      const ten = await stage.createPods('ten', 10, { group: 'ten', cpu: 1 });
      await expectVerdict(stage.record, ten, { reason: 'Unschedulable', says: ['9 of 10 members would fit'] });
      await expectBound(stage.record, await stage.createPods('plain', 9, { cpu: 1 }));
      return () => expectNeverBound(stage.record, ten);
    },
  ),

  X7: scenario(
    'a group of two is never partially bound, however often it is tried, and starts when both members fit',
    async (stage) => {
      const [, taken] = await stage.addNodes(
        { name: 'free', allocatable: { cpu: '2900m' } },
        { name: 'taken', allocatable: { cpu: '2' } },
      );
      const scheduler = await stage.startScheduler();
      const occupant = await stage.createPod('occupant', { cpu: '1500m', nodeName: taken! });
      await stage.createGroup('pair', { minMember: 2 });
      const pair = await stage.createPods('pair', 2, { group: 'pair', cpu: '1500m' });
      await expectVerdict(stage.record, pair, { reason: 'Unschedulable', says: ['1 of 2 members would fit'] });
      // The total would suffice, and one node has more than before, so each change is worth an attempt.
      for (let change = 1; change <= 20; change++) {
        const { groups } = await attemptsOf(scheduler, 'unschedulable');
        await stage.setNodeStatus(stage.nodes[0]!, { allocatable: { cpu: `${2900 + change}m` } });
        await poll(
          async () => ((await attemptsOf(scheduler, 'unschedulable')).groups > groups ? undefined : 'no attempt'),
          `attempt ${change}`,
          hangsMs,
        );
      }
      expectNeverBound(stage.record, pair);
      await stage.deletePod(occupant);
      await expectBound(stage.record, pair);
    },
  ),

  X9: scenario(
    'a started group that lost members reports how many are left, and binds their replacements once they complete the quorum',
    async (stage) => {
      await stage.addSimulatedNodes({ name: 'large', allocatable: { cpu: '32', memory: '8Gi' } });
      await stage.startController();
      await stage.startScheduler();
      const group = await stage.createGroup('ten', { minMember: 8 });
      const member = { group: 'ten', cpu: 1 } as const;
      const pods = await stage.createPods('ten', 10, member);
      await expectBound(stage.record, pods);
      await expectPhase(stage.record, group, 'Running', { members: 10, scheduled: 10, running: 10 });
      for (const evicted of pods.splice(5)) await stage.deletePod(evicted);
      await expectPhase(stage.record, group, 'Pending', { members: 5, scheduled: 5, running: 5 });
      const replacements = await stage.createPods('again', 2, member);
      const lonely = { reason: 'WaitingForGang', says: ['has 7 of the 8 members'] } as const;
      await expectVerdict(stage.record, replacements, lonely);
      expectNeverBound(stage.record, replacements);
      replacements.push(...(await stage.createPods('more', 3, member)));
      await expectBound(stage.record, replacements);
      await expectPhase(stage.record, group, 'Running', { members: 10, scheduled: 10, running: 10 });
    },
  ),

  X10: scenario('groups of the same name in two namespaces, and a recreated group, are independent', async (stage) => {
    await stage.addSimulatedNodes({ name: 'large', allocatable: { cpu: '32', memory: '8Gi' } });
    await stage.startController();
    await stage.startScheduler();
    const elsewhere = await stage.addNamespace();
    const here = await stage.createGroup('job', { minMember: 2 });
    const there = await stage.createGroup('job', { minMember: 2 }, elsewhere);
    const member = { group: 'job', cpu: 1 } as const;
    const short = { ...member, annotations: { 'sim.tutti.dev/run-duration': '0s' } };
    const ours = await stage.createPods('job', 1, member);
    const theirs = await stage.createPods('job', 1, short, elsewhere);
    const lonely = { reason: 'WaitingForGang', says: ['has 1 of the 2 members'] } as const;
    await expectVerdict(stage.record, [...ours, ...theirs], lonely);
    await expectPhase(stage.record, here, 'Pending', { members: 1, scheduled: 0 });
    await expectPhase(stage.record, there, 'Pending', { members: 1, scheduled: 0 });
    theirs.push(await stage.createPod('job-1', short, elsewhere));
    await expectBound(stage.record, theirs);
    await expectPhase(stage.record, there, 'Finished', { members: 2, succeeded: 2 });
    await expectPhase(stage.record, here, 'Pending', { members: 1, succeeded: 0 });

    // The recreated group has another uid: the start of the first one and its succeeded members no longer count.
    await stage.deleteGroup(there);
    await stage.createGroup('job', { minMember: 2 }, elsewhere);
    const again = [await stage.createPod('again-0', member, elsewhere)];
    await expectVerdict(stage.record, again, lonely);
    await expectPhase(stage.record, there, 'Pending', { members: 1, scheduled: 0, succeeded: 0 });
    expectNeverBound(stage.record, again);
    again.push(await stage.createPod('again-1', member, elsewhere));
    await expectBound(stage.record, again);
    return () => expectNeverBound(stage.record, ours);
  }),

  X11: scenario('a group that is created after its pods starts within a second', async (stage) => {
    await stage.addNodes({ name: 'large', allocatable: { cpu: '8' } });
    await stage.startScheduler();
    const pods = await stage.createPods('late', 3, { group: 'late', cpu: 1 });
    await expectVerdict(stage.record, pods, { reason: 'WaitingForGang', says: ['does not exist'] });
    expectNeverBound(stage.record, pods);
    await stage.createGroup('late', { minMember: 3 });
    await expectBound(stage.record, pods);
  }),

  X14: scenario(
    'a group that is scaled down and whose minMember is lowered starts with the new quorum',
    async (stage) => {
      await stage.addNodes({ name: 'four', allocatable: { cpu: '4' } });
      await stage.startScheduler();
      const group = await stage.createGroup('elastic', { minMember: 6 });
      const pods = await stage.createPods('elastic', 6, { group: 'elastic', cpu: 1 });
      await expectVerdict(stage.record, pods, { reason: 'Unschedulable', says: ['4 of 6 members would fit'] });
      for (const key of pods.splice(4)) await stage.deletePod(key);
      await expectVerdict(stage.record, pods, { reason: 'WaitingForGang', says: ['has 4 of the 6 members'] });
      expectNeverBound(stage.record, pods);
      await stage.patchGroup(group, { spec: { minMember: 4 } });
      await expectBound(stage.record, pods);
    },
  ),

  'late-member': scenario('a rejected group starts when a member joins that fits', async (stage) => {
    await stage.addNodes({ name: 'four', allocatable: { cpu: '4' } });
    await stage.startScheduler();
    await stage.createGroup('pair', { minMember: 2 });
    const large = await stage.createPods('large', 2, { group: 'pair', cpu: 3 });
    await expectVerdict(stage.record, large, { reason: 'Unschedulable', says: ['1 of 2 members would fit'] });
    const small = await stage.createPod('small', { group: 'pair', cpu: 1 });
    await expectBound(stage.record, [small]);
    await expectCountBound(stage.record, large, 1);
  }),

  'late-gate': scenario('a rejected group starts when the gate of a member that fits is removed', async (stage) => {
    await stage.addNodes({ name: 'four', allocatable: { cpu: '4' } });
    await stage.startScheduler();
    await stage.createGroup('pair', { minMember: 2 });
    const small = await stage.createPod('small', { group: 'pair', cpu: 1, gates: ['example.com/quota'] });
    const large = await stage.createPods('large', 2, { group: 'pair', cpu: 3 });
    await expectVerdict(stage.record, large, { reason: 'Unschedulable', says: ['1 of 2 members would fit'] });
    await stage.liftGates(small);
    await expectBound(stage.record, [small]);
    await expectCountBound(stage.record, large, 1);
  }),

  'lowered-quorum': scenario('a rejected group starts when its minMember is lowered to what fits', async (stage) => {
    await stage.addNodes({ name: 'four', allocatable: { cpu: '4' } });
    await stage.startScheduler();
    const group = await stage.createGroup('elastic', { minMember: 6 });
    const pods = await stage.createPods('elastic', 6, { group: 'elastic', cpu: 1 });
    await expectVerdict(stage.record, pods, { reason: 'Unschedulable', says: ['4 of 6 members would fit'] });
    await stage.patchGroup(group, { spec: { minMember: 4 } });
    await expectCountBound(stage.record, pods, 4);
  }),

  'cordoned-nodes': scenario(
    'a group that needs cordoned nodes says so, and starts once they are uncordoned',
    async (stage) => {
      const nodes = await stage.addNodes(
        { name: 'one', allocatable: { cpu: '2' } },
        { name: 'two', allocatable: { cpu: '2' } },
      );
      for (const node of nodes) await stage.setNodeSpec(node, { unschedulable: true });
      await stage.startController();
      await stage.startScheduler();
      const group = await stage.createGroup('pair', { minMember: 2 });
      const pods = await stage.createPods('pair', 2, { group: 'pair', cpu: 2 });
      const unavailable = '2 of 2 nodes are unavailable (cordoned). The group would fit if all nodes were available.';
      await expectVerdict(stage.record, pods, { reason: 'Unschedulable', says: [unavailable] });
      const condition = { type: 'Scheduled', status: 'False', reason: 'Unschedulable', says: unavailable };
      await expectGroupCondition(stage.record, group, condition);
      await stage.setNodeSpec(nodes[0]!, { unschedulable: null });
      await expectVerdict(stage.record, pods, {
        reason: 'Unschedulable',
        says: ['1 of 2 members would fit', '1 of 2 nodes is unavailable (cordoned)'],
      });
      expectNeverBound(stage.record, pods);
      await stage.setNodeSpec(nodes[1]!, { unschedulable: null });
      await expectBound(stage.record, pods);
    },
  ),
} as const satisfies Record<string, Scenario>;
