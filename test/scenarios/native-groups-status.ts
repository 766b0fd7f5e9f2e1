import { initiallyScheduled } from '../../src/api/native-pod-group.ts';
import type { RunningProcess } from '../../src/compose/running-process.ts';
import { expectBound, expectCountBound, expectNeverBound, nodeOf } from '../expect/expect-bound.ts';
import { expectGroupCondition } from '../expect/expect-phase.ts';
import { expectVerdict, expectWarning } from '../expect/expect-verdict.ts';
import { keyOf } from '../expect/watched.ts';
import { hangsMs } from '../planes/patience.ts';
import { AdvancingClock } from './advancing-clock.ts';
import { onBindingsOfPods } from './broken-bindings.ts';
import type { PodSpec } from './pod-manifest.ts';
import { cpus } from './preemption-stage.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

const member: PodSpec = { schedulingGroup: 'train', cpu: 1 };
export const scheduled = { type: initiallyScheduled, status: 'True', reason: 'Scheduled' } as const;
export const unschedulable = { type: initiallyScheduled, status: 'False', reason: 'Unschedulable' } as const;

/** The condition that the controller writes into PodGroups of Kubernetes itself, and the groups that it leaves alone. */
export const nativeGroupsStatus = {
  NA6: scenario(
    'the controller writes the condition once, also if pods end or another component writes it',
    async (stage) => {
      await stage.addNodes(cpus('node', 8));
      const controller = await stage.startController();
      await stage.startScheduler();
      const waiting = await stage.createNativeGroup('waiting', { minCount: 2 });
      const pods = await stage.createPods('waiting', 2, { schedulingGroup: 'waiting', cpu: 5 });
      await expectGroupCondition(stage.record, waiting, { ...unschedulable, says: '1 of 2 members would fit' });
      const started: string[] = [];
      for (let index = 0; index < 40; index++) {
        const name = `train-${index}`;
        started.push(await stage.createNativeGroup(name, { minCount: 1 }));
        pods.push(await stage.createPod(name, { schedulingGroup: name, cpu: '10m' }));
      }
      for (const group of started) await expectGroupCondition(stage.record, group, scheduled);
      // Another writer has its own texts.
      const [theirs, ...ours] = started;
      await writeCondition(stage, theirs!, { ...scheduled, message: 'theirs' });
      await writeCondition(stage, waiting, { ...unschedulable, message: 'theirs' });
      const before = await syncsOf(controller);
      for (let round = 0; (await syncsOf(controller)) < before + 1_000; round++) {
        const ready = { type: 'Ready', status: round % 2 === 0 ? 'True' : 'False' };
        await Promise.all(pods.map((key) => stage.setPodStatus(key, { conditions: [ready] })));
      }
      await stage.deletePod(pods.at(-1)!);
      const again = await stage.createPod('again', { schedulingGroup: 'train-39', cpu: 9 });
      await expectVerdict(stage.record, [again], { reason: 'Unschedulable' });
      return () => {
        expectWrites(stage, [theirs!, waiting], 2);
        expectWrites(stage, ours, 1);
      };
    },
  ),

  'condition-of-basic': scenario('a basic group is scheduled once one of its pods is bound', async (stage) => {
    await stage.addNodes(cpus('node', 1));
    await stage.startController();
    await stage.startScheduler();
    const group = await stage.createNativeGroup('train');
    const large = await stage.createPod('large', { ...member, cpu: 2 });
    await expectGroupCondition(stage.record, group, unschedulable);
    await expectBound(stage.record, [await stage.createPod('small', member)]);
    await expectGroupCondition(stage.record, group, scheduled);
    return () => expectNeverBound(stage.record, [large]);
  }),

  'condition-of-error': scenario('a group that contradicts a member says so in its condition', async (stage) => {
    await stage.addNodes(cpus('node', 4));
    await stage.startController();
    await stage.startScheduler();
    const group = await stage.createNativeGroup('train', { minCount: 2, priority: 'mid' });
    const differs = await stage.createPod('differs', member);
    const gang = await stage.createPods('train', 2, { ...member, priority: 'mid' });
    const says = 'pod differs has the priority 0';
    await expectGroupCondition(stage.record, group, { ...unschedulable, reason: 'SchedulerError', says });
    await stage.deletePod(differs);
    await expectBound(stage.record, gang);
    await expectGroupCondition(stage.record, group, scheduled);
  }),

  NA12: scenario('a gang whose pods name two schedulers waits with a verdict, and gets no condition', async (stage) => {
    await stage.addNodes(cpus('node', 8));
    await stage.startController();
    await stage.startScheduler();
    const group = await stage.createNativeGroup('train', { minCount: 2 });
    const theirs = await stage.createPod('theirs', { ...member, schedulerName: 'another' });
    const gang = await stage.createPods('train', 2, member);
    await expectVerdict(stage.record, gang, {
      reason: 'WaitingForGang',
      says: ['name different schedulers (tutti, another)'],
    });
    expectNeverBound(stage.record, gang);
    // It asks for more than a node has: a verdict that would be copied, if the group were all ours.
    const large = await stage.createPod('large', { ...member, cpu: 16 });
    await stage.createNativeGroup('mark', { minCount: 1 });
    await stage.createPod('mark', { schedulingGroup: 'mark', cpu: 1 });
    await expectGroupCondition(stage.record, group.replace(/train$/, 'mark'), scheduled);
    expectWrites(stage, [group], 0);
    // Its controller recreates it with our name.
    await stage.deletePod(large);
    await stage.deletePod(theirs);
    await expectBound(stage.record, [...gang, await stage.createPod('ours', member)]);
    await expectGroupCondition(stage.record, group, scheduled);
    return () => expectWrites(stage, [group], 1);
  }),

  NA13: scenario('the groups and pods of another scheduler are left alone', async (stage) => {
    const [node] = await stage.addNodes(cpus('node', 8));
    await stage.startController();
    await stage.startScheduler();
    const group = await stage.createNativeGroup('train', { minCount: 2 });
    const theirs: PodSpec = { ...member, schedulerName: 'another' };
    const pods = await stage.createPods('theirs', 2, theirs);
    const begun = await stage.createNativeGroup('begun', { minCount: 1 });
    pods.push(await stage.createPod('begun', { ...theirs, schedulingGroup: 'begun', nodeName: node! }));
    // A pod of ours in their started group is scheduled, but the group stays theirs.
    await expectBound(stage.record, [await stage.createPod('ours', { schedulingGroup: 'begun', cpu: 1 })]);
    const ours = await stage.createNativeGroup('ours', { minCount: 1 });
    await expectBound(stage.record, [await stage.createPod('also-ours', { schedulingGroup: 'ours', cpu: 1 })]);
    await expectGroupCondition(stage.record, ours, scheduled);
    return () => {
      expectWrites(stage, [group, begun], 0);
      const changed = stage.record.pods.changes.filter(({ object }) => pods.includes(keyOf(object)));
      if (changed.length > pods.length) throw new Error(`their pods have ${changed.length} changes`);
    };
  }),

  'released-after-crash': scenario(
    'a new scheduler releases a gang that the first one left partially bound, if other pods take the rest',
    async (stage) => {
      stage.partialForMs = hangsMs;
      const [node] = await stage.addNodes(cpus('node', 3));
      await stage.startController();
      const proxy = await stage.openProxy();
      proxy.fault = onBindingsOfPods((pod) => (pod > 1 ? new Promise(() => undefined) : undefined));
      const first = await stage.startScheduler({ through: proxy });
      const group = await stage.createNativeGroup('train', { minCount: 3 });
      const owner = await stage.createOwner('job');
      const gang = await stage.createPods('train', 3, { ...member, owner });
      await expectCountBound(stage.record, gang, 1);
      const bound = gang.find((key) => nodeOf(stage.record, key) !== undefined)!;
      await proxy.cut();
      await first.stop();
      const rival = await stage.createPod('rival', { cpu: 2, nodeName: node!, schedulerName: 'another' });
      const clock = new AdvancingClock();
      await stage.startScheduler({ clock });
      await expectGroupCondition(stage.record, group, unschedulable);
      clock.advance(61_000);
      await stage.record.until('the bound member is gone', hangsMs, () =>
        stage.record.pods.current.has(bound) ? 'it still exists' : undefined,
      );
      await expectWarning(stage.record, [group], { reason: 'Released' });
      await stage.deletePod(rival);
      const again = await stage.createPod('again', { ...member, owner });
      clock.advance(11_000);
      await expectBound(stage.record, [...gang.filter((key) => key !== bound), again]);
      await expectGroupCondition(stage.record, group, scheduled);
    },
  ),
} as const satisfies Record<string, Scenario>;

/** Writes the condition as another component would. */
async function writeCondition(
  stage: Stage,
  group: string,
  condition: { readonly type: string; readonly status: string; readonly reason: string; readonly message: string },
): Promise<void> {
  const conditions = [{ ...condition, lastTransitionTime: new Date().toISOString().replace(/\.\d+/, '') }];
  await stage.client.patch(`${stage.groupPath(group)}/status`, 'strategic-merge', { status: { conditions } });
}

/** Asserts how often the groups have been written since they were created. */
export function expectWrites({ record }: Stage, groups: readonly string[], count: number): void {
  for (const group of groups) {
    const versions = record.nativePodGroups!.changes.filter(({ object }) => group.endsWith(`/${keyOf(object)}`));
    if (versions.length === count + 1) continue;
    throw new Error(
      `${group} was written ${versions.length - 1} times: ${JSON.stringify(versions.map(({ object }) => object.status))}`,
    );
  }
}

/** Returns how often the controller has looked at a group. */
async function syncsOf({ url }: RunningProcess): Promise<number> {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
  return lines
    .filter((line) => line.startsWith('tutti_podgroup_reconciles_total{'))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
