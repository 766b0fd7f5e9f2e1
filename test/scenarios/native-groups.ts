import type { RunningProcess } from '../../src/compose/running-process.ts';
import { expectBound, expectCountBound, expectNeverBound } from '../expect/expect-bound.ts';
import { expectVerdict, expectWarning } from '../expect/expect-verdict.ts';
import { hangsMs } from '../planes/patience.ts';
import { poll } from '../planes/poll.ts';
import { AdvancingClock } from './advancing-clock.ts';
import { attemptsOf } from './attempts.ts';
import type { PodSpec } from './pod-manifest.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import { untilSeen } from './seen-group.ts';
import type { Stage } from './stage.ts';

const member: PodSpec = { schedulingGroup: 'train', cpu: 1 };

/** PodGroups of Kubernetes itself: how they start, and what keeps them from starting. */
export const nativeGroups = {
  NA1: scenario('a gang of four starts as a whole or not at all, and blocks no pod that fits', async (stage) => {
    const [node] = await stage.addNodes({ name: 'four', allocatable: { cpu: '4' } });
    const occupant = await stage.createPod('occupant', { cpu: 1, nodeName: node! });
    await stage.startScheduler();
    await stage.createNativeGroup('train', { minCount: 4 });
    const gang = await stage.createPods('train', 4, member);
    await expectVerdict(stage.record, gang, { reason: 'Unschedulable', says: ['3 of 4 members would fit'] });
    const single = await stage.createPod('single', { cpu: 1 });
    await expectBound(stage.record, [single]);
    expectNeverBound(stage.record, gang);
    await stage.deletePod(single);
    await stage.deletePod(occupant);
    await expectBound(stage.record, gang);
  }),

  NA2: scenario('a gang whose PodGroup is created after its pods starts then', async (stage) => {
    await stage.addNodes({ name: 'four', allocatable: { cpu: '4' } });
    await stage.startScheduler();
    const gang = await stage.createPods('train', 3, member);
    await expectVerdict(stage.record, gang, {
      reason: 'WaitingForGang',
      says: [`PodGroup scheduling.k8s.io/${stage.namespace}/train does not exist`],
    });
    expectNeverBound(stage.record, gang);
    await stage.createNativeGroup('train', { minCount: 3 });
    await expectBound(stage.record, gang);
  }),

  NA3: scenario('a gang starts when its minCount is lowered while it waits', async (stage) => {
    await stage.addNodes({ name: 'three', allocatable: { cpu: '3' } });
    await stage.startScheduler();
    const group = await stage.createNativeGroup('train', { minCount: 5 });
    const gang = await stage.createPods('train', 4, member);
    await expectVerdict(stage.record, gang, { reason: 'WaitingForGang', says: ['has 4 of the 5 members'] });
    await setMinCount(stage, group, 4);
    await expectVerdict(stage.record, gang, { reason: 'Unschedulable', says: ['3 of 4 members would fit'] });
    expectNeverBound(stage.record, gang);
    await setMinCount(stage, group, 2);
    await expectCountBound(stage.record, gang, 3);
  }),

  NA4: scenario('the pods of a basic group start one by one, and cost what single pods cost', async (stage) => {
    const count = 50;
    await stage.addNodes({ name: 'large', allocatable: { cpu: String(2 * count), pods: '200' } });
    const scheduler = await stage.startScheduler();
    await stage.createNativeGroup('train');
    const gated = await stage.createPod('gated', { ...member, gates: ['example.com/quota'] });
    await expectBound(stage.record, await stage.createPods('train', count, member));
    await untilAttempts(scheduler, { groups: 0, pods: count });
    await expectBound(stage.record, await stage.createPods('single', count, { cpu: 1 }));
    await untilAttempts(scheduler, { groups: 0, pods: 2 * count });
    const failed = await attemptsOf(scheduler, 'unschedulable');
    if (failed.groups + failed.pods > 0) throw new Error(`attempts have failed: ${JSON.stringify(failed)}`);
    return () => expectNeverBound(stage.record, [gated]);
  }),

  NA7: scenario('the retry of a member starts although a sibling has completed', async (stage) => {
    await stage.addNodes({ name: 'three', allocatable: { cpu: '3' } });
    await stage.startScheduler();
    await stage.createNativeGroup('train', { minCount: 3 });
    const [completed, failed, runs] = await stage.createPods('train', 3, member);
    await expectBound(stage.record, [completed!, failed!, runs!]);
    await stage.setPodStatus(completed!, { phase: 'Succeeded' });
    await stage.setPodStatus(failed!, { phase: 'Failed' });
    await expectBound(stage.record, [await stage.createPod('retry', member)]);
    // So does the retry of the last one that runs.
    await stage.setPodStatus(runs!, { phase: 'Failed' });
    await stage.deletePod(failed!);
    await stage.deletePod(runs!);
    await expectBound(stage.record, [await stage.createPod('retry-again', member)]);
  }),

  NA14: scenario('a gang waits while a member has another priority than its PodGroup', async (stage) => {
    await stage.addNodes({ name: 'four', allocatable: { cpu: '4' } });
    await stage.startScheduler();
    await stage.createNativeGroup('train', { minCount: 2, priority: 'mid' });
    const differs = await stage.createPod('differs', member);
    const gang = await stage.createPods('train', 2, { ...member, priority: 'mid' });
    const text = `pod differs has the priority 0, but PodGroup scheduling.k8s.io/${stage.namespace}/train has 100`;
    await expectVerdict(stage.record, [differs, ...gang], { reason: 'SchedulerError', says: [text] });
    expectNeverBound(stage.record, gang);
    await stage.deletePod(differs);
    await expectBound(stage.record, gang);
  }),

  'priority-of-bound': scenario('a gang does not grow while a bound member has another priority', async (stage) => {
    const [node] = await stage.addNodes({ name: 'four', allocatable: { cpu: '4' } });
    const differs = await stage.createPod('differs', { ...member, priority: 'mid', nodeName: node! });
    await stage.startScheduler();
    await stage.createNativeGroup('train', { minCount: 1 });
    const gang = await stage.createPods('train', 1, member);
    await expectVerdict(stage.record, gang, { reason: 'SchedulerError', says: ['pod differs has the priority 100'] });
    expectNeverBound(stage.record, gang);
    await stage.deletePod(differs);
    await expectBound(stage.record, gang);
  }),

  'priority-in-basic': scenario(
    'a pod with another priority than its basic group holds back only itself',
    async (stage) => {
      await stage.addNodes({ name: 'four', allocatable: { cpu: '4' } });
      await stage.startScheduler();
      await stage.createNativeGroup('train', { priority: 'mid' });
      const differs = await stage.createPod('differs', member);
      await expectVerdict(stage.record, [differs], {
        reason: 'SchedulerError',
        says: ['pod differs has the priority 0'],
      });
      await expectBound(stage.record, await stage.createPods('train', 2, { ...member, priority: 'mid' }));
      return () => expectNeverBound(stage.record, [differs]);
    },
  ),

  'gated-member': scenario(
    'a gang waits until no member has scheduling gates, which a PodGroup of scheduling.x-k8s.io does not',
    async (stage) => {
      await stage.addNodes({ name: 'eight', allocatable: { cpu: '8' } });
      await stage.startScheduler();
      const gates = ['example.com/quota'];
      await stage.createGroup('labeled', { minMember: 2 });
      await stage.createPod('labeled-gated', { group: 'labeled', cpu: 1, gates });
      await expectBound(stage.record, await stage.createPods('labeled', 2, { group: 'labeled', cpu: 1 }));

      await stage.createNativeGroup('train', { minCount: 2 });
      const gated = await stage.createPod('gated', { ...member, gates });
      const gang = await stage.createPods('train', 2, member);
      const waits = { reason: 'WaitingForGang', says: ['until no member has scheduling gates'] } as const;
      await expectVerdict(stage.record, gang, waits);
      expectNeverBound(stage.record, gang);
      await stage.liftGates(gated);
      await expectBound(stage.record, [gated, ...gang]);

      // The same holds for members that follow.
      const late = await stage.createPod('late-gated', { ...member, gates });
      const surplus = await stage.createPod('surplus', member);
      await expectVerdict(stage.record, [surplus], waits);
      expectNeverBound(stage.record, [surplus]);
      await stage.deletePod(late);
      await expectBound(stage.record, [surplus]);
    },
  ),

  'two-apis': scenario('groups of one name in the two APIs are independent', async (stage) => {
    await stage.addNodes({ name: 'eight', allocatable: { cpu: '8' } });
    await stage.startController();
    await stage.startScheduler();
    await stage.createGroup('train', { minMember: 3 });
    await stage.createNativeGroup('train', { minCount: 2 });
    const labeled = await stage.createPods('labeled', 2, { group: 'train', cpu: 1 });
    const native = await stage.createPods('native', 1, member);
    await expectVerdict(stage.record, labeled, {
      reason: 'WaitingForGang',
      says: [`PodGroup ${stage.namespace}/train has 2 of the 3 members`],
    });
    await expectVerdict(stage.record, native, {
      reason: 'WaitingForGang',
      says: [`PodGroup scheduling.k8s.io/${stage.namespace}/train has 1 of the 2 members`],
    });
    native.push(await stage.createPod('native-1', member));
    await expectBound(stage.record, native);
    return () => expectNeverBound(stage.record, labeled);
  }),

  'gang-of-each-api': scenario('a pod in a gang of each API starts in neither, and names both', async (stage) => {
    await stage.addNodes({ name: 'eight', allocatable: { cpu: '8' } });
    const scheduler = await stage.startScheduler();
    await stage.createGroup('labeled', { minMember: 2 });
    const group = await stage.createNativeGroup('train', { minCount: 2 });
    await untilSeen(scheduler, group, ({ minMember }) => minMember === 2);
    const both = await stage.createPods('both', 2, { ...member, group: 'labeled' });
    const one = await stage.createPod('one', { group: 'labeled', cpu: 1 });
    await expectVerdict(stage.record, [...both, one], {
      reason: 'SchedulerError',
      says: [
        `is in PodGroup ${stage.namespace}/labeled by its label`,
        `and in PodGroup ${group} by its spec.schedulingGroup`,
      ],
    });
    expectNeverBound(stage.record, [...both, one]);
    // The gang in spec.schedulingGroup does not count them.
    const native = await stage.createPods('train', 1, member);
    await expectVerdict(stage.record, native, { reason: 'WaitingForGang', says: ['has 1 of the 2 members'] });
    for (const key of both) await stage.deletePod(key);
    await expectBound(stage.record, [one, await stage.createPod('other', { group: 'labeled', cpu: 1 })]);
    return () => expectNeverBound(stage.record, native);
  }),

  'label-and-basic': scenario(
    'a pod in a basic group and in a gang by its label starts with the gang',
    async (stage) => {
      await stage.addNodes({ name: 'eight', allocatable: { cpu: '8' } });
      await stage.startScheduler();
      await stage.createNativeGroup('train');
      await stage.createGroup('labeled', { minMember: 2 });
      const gang = await stage.createPods('both', 1, { ...member, group: 'labeled' });
      await expectVerdict(stage.record, gang, { reason: 'WaitingForGang', says: ['has 1 of the 2 members'] });
      expectNeverBound(stage.record, gang);
      gang.push(await stage.createPod('both-1', { ...member, group: 'labeled' }));
      await expectBound(stage.record, gang);
    },
  ),

  released: scenario(
    'a gang that never started and cannot be completed is released after a minute, if a controller recreates its members',
    async (stage) => {
      stage.partialForMs = hangsMs;
      const [node] = await stage.addNodes({ name: 'three', allocatable: { cpu: '3' } });
      const rival = await stage.createPod('rival', { cpu: 1, nodeName: node! });
      const clock = new AdvancingClock();
      await stage.startScheduler({ clock });
      // It knows that a gang whose members are bound later has not started.
      await stage.logs.until(({ message }) => message === 'scheduling');
      const group = await stage.createNativeGroup('train', { minCount: 3 });
      const owner = await stage.createOwner('job');
      const first = await stage.createPod('first', { ...member, owner, nodeName: node! });
      const rest = await stage.createPods('rest', 2, { ...member, owner });
      await expectVerdict(stage.record, rest, { reason: 'Unschedulable' });
      clock.advance(61_000);
      await expectWarning(stage.record, [group], { reason: 'Released' });
      await stage.record.until('the bound member is gone', hangsMs, () =>
        stage.record.pods.current.has(first) ? 'it still exists' : undefined,
      );
      expectNeverBound(stage.record, rest);
      await stage.deletePod(rival);
      const again = await stage.createPod('again', { ...member, owner });
      clock.advance(11_000);
      await expectBound(stage.record, [...rest, again]);
    },
  ),
} as const satisfies Record<string, Scenario>;

/** Changes the quorum of a PodGroup of `scheduling.k8s.io`. */
export async function setMinCount(stage: Stage, group: string, minCount: number): Promise<void> {
  await stage.patchGroup(group, { spec: { schedulingPolicy: { gang: { minCount } } } });
}

/** Waits until exactly this number of attempts has succeeded: one is counted once its Binding is answered. */
async function untilAttempts(
  scheduler: RunningProcess,
  expected: { readonly groups: number; readonly pods: number },
): Promise<void> {
  await poll(
    async () => {
      const found = await attemptsOf(scheduler, 'scheduled');
      return found.groups === expected.groups && found.pods === expected.pods ? undefined : JSON.stringify(found);
    },
    `the attempts are ${JSON.stringify(expected)}`,
  );
}
