import { expectBound, expectNeverBound } from '../expect/expect-bound.ts';
import { expectGroupCondition } from '../expect/expect-phase.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { hangsMs } from '../planes/patience.ts';
import { poll } from '../planes/poll.ts';
import { expectWrites, scheduled } from './native-groups-status.ts';
import type { PodSpec } from './pod-manifest.ts';
import { cpus } from './preemption-stage.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

const theirs: PodSpec = { schedulingGroup: 'train', cpu: 1, schedulerName: 'default-scheduler' };
const ours: PodSpec = { schedulingGroup: 'train', cpu: 1 };

/** PodGroups of Kubernetes itself while kube-scheduler runs, too. */
export const besideKubeScheduler = {
  'group-of-each': scenario('each scheduler starts its own gangs and writes only their conditions', async (stage) => {
    await start(stage);
    const group = await stage.createNativeGroup('train', { minCount: 2 });
    const own = await stage.createNativeGroup('own', { minCount: 2 });
    await expectBound(stage.record, await stage.createPods('theirs', 2, theirs));
    await expectBound(stage.record, await stage.createPods('ours', 2, { ...ours, schedulingGroup: 'own' }));
    await expectWriters(stage, group, ['kube-scheduler']);
    await expectWriters(stage, own, ['tutti-controller']);
  }),

  'group-of-both': scenario(
    'a gang whose pods name both schedulers waits without a condition, until its pods are recreated with one of them',
    async (stage) => {
      await start(stage);
      const group = await stage.createNativeGroup('train', { minCount: 3 });
      const others = await stage.createPods('theirs', 2, theirs);
      const pods = await stage.createPods('ours', 2, ours);
      await expectVerdict(stage.record, pods, {
        reason: 'WaitingForGang',
        says: ['name different schedulers (tutti, default-scheduler)'],
      });
      expectNeverBound(stage.record, [...pods, ...others]);
      expectWrites(stage, [group], 0);
      for (const key of others) await stage.deletePod(key);
      pods.push(...(await stage.createPods('again', 2, ours)));
      await expectBound(stage.record, pods);
      await expectWriters(stage, group, ['tutti-controller']);
    },
  ),

  'changed-scheduler': scenario(
    'the condition of a gang stays as it is when its pods are recreated with the other schedulerName',
    async (stage) => {
      await start(stage);
      const group = await stage.createNativeGroup('train', { minCount: 2 });
      const first = await stage.createPods('ours', 2, ours);
      await expectBound(stage.record, first);
      await expectGroupCondition(stage.record, group, scheduled);
      for (const key of first) await stage.deletePod(key);
      const second = await stage.createPods('theirs', 2, theirs);
      await expectBound(stage.record, second);
      for (const key of second) await stage.deletePod(key);
      await expectBound(stage.record, await stage.createPods('again', 2, ours));
      return () => expectWrites(stage, [group], 1);
    },
  ),
} as const satisfies Record<string, Scenario>;

async function start(stage: Stage): Promise<void> {
  await stage.addNodes(cpus('node', 8));
  await stage.startController();
  await stage.startScheduler();
}

/** Waits until the group is scheduled. Exactly these components have written its status. */
async function expectWriters(stage: Stage, group: string, writers: readonly string[]): Promise<void> {
  await expectGroupCondition(stage.record, group, scheduled);
  await poll(
    async () => {
      const { metadata } = await stage.client.get<{
        readonly metadata: { readonly managedFields: readonly { manager: string; subresource?: string }[] };
      }>(stage.groupPath(group));
      const found = metadata.managedFields.filter(({ subresource }) => subresource === 'status');
      const managers = found.map(({ manager }) => manager).join();
      return managers === writers.join() ? undefined : `they are ${managers}`;
    },
    `the writers of ${group} are ${writers.join()}`,
    hangsMs,
  );
}
