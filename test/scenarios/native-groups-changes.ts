import { deferred } from '../../src/base/deferred.ts';
import type { RunningProcess } from '../../src/compose/running-process.ts';
import type { OwnPlugin } from '../../src/plugins/own-plugin.ts';
import { expectBound, expectCountBound, expectNeverBound, nodeOf } from '../expect/expect-bound.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { statusAnswer } from '../planes/api-proxy.ts';
import { hangsMs } from '../planes/patience.ts';
import { onBindingsOfPods } from './broken-bindings.ts';
import { setMinCount } from './native-groups.ts';
import type { PodSpec } from './pod-manifest.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import { untilSeen } from './seen-group.ts';
import type { Stage } from './stage.ts';

const member: PodSpec = { schedulingGroup: 'train', cpu: 1 };

/** PodGroups of Kubernetes itself that change between the plan of their gang and its Bindings. */
export const nativeGroupsChanges = {
  'raised-before-binding': scenario(
    'a gang whose minCount is raised after its plan and before its first Binding starts with the new quorum',
    async (stage) => {
      const { gang, group, scheduler, release } = await plannedGang(stage);
      await setMinCount(stage, group, 6);
      await untilSeen(scheduler, group, ({ minMember }) => minMember === 6);
      release();
      await expectVerdict(stage.record, gang, { reason: 'WaitingForGang', says: ['has 4 of the 6 members'] });
      expectNeverBound(stage.record, gang);
      const late = await stage.createPods('late', 2, member);
      await expectBound(stage.record, [...gang, ...late]);
    },
  ),

  'lowered-before-binding': scenario(
    'a gang whose minCount is lowered after its plan and before its first Binding starts',
    async (stage) => {
      const { gang, group, scheduler, release } = await plannedGang(stage);
      await setMinCount(stage, group, 2);
      await untilSeen(scheduler, group, ({ minMember }) => minMember === 2);
      release();
      await expectBound(stage.record, gang);
    },
  ),

  'deleted-before-binding': scenario(
    'a gang whose PodGroup is deleted after its plan and before its first Binding waits for the next PodGroup',
    async (stage) => {
      const { gang, group, scheduler, release } = await plannedGang(stage);
      await stage.deleteGroup(group);
      await untilSeen(scheduler, group, ({ minMember }) => minMember === undefined);
      release();
      await expectVerdict(stage.record, gang, { reason: 'WaitingForGang', says: ['does not exist'] });
      expectNeverBound(stage.record, gang);
      await stage.createNativeGroup('train', { minCount: 4 });
      await expectBound(stage.record, gang);
    },
  ),

  'raised-while-binding': scenario(
    'a gang whose minCount is raised while its Bindings are sent is bound, and its missing members follow together',
    async (stage) => {
      stage.partialForMs = hangsMs;
      await stage.addNodes({ name: 'eight', allocatable: { cpu: '8' } });
      const proxy = await stage.openProxy();
      const [sent, held] = [deferred(), deferred()];
      proxy.fault = onBindingsOfPods(async (pod) => {
        if (pod === 4) sent.resolve();
        await held.promise;
        return undefined;
      });
      const scheduler = await stage.startScheduler({ through: proxy });
      const group = await stage.createNativeGroup('train', { minCount: 4 });
      const gang = await stage.createPods('train', 4, member);
      await sent.promise;
      await setMinCount(stage, group, 6);
      await untilSeen(scheduler, group, ({ minMember }) => minMember === 6);
      held.resolve();
      await expectBound(stage.record, gang);
      const late = [await stage.createPod('late', member)];
      await expectVerdict(stage.record, late, { reason: 'WaitingForGang', says: ['has 5 of the 6 members'] });
      expectNeverBound(stage.record, late);
      late.push(await stage.createPod('later', member));
      await expectBound(stage.record, late);
    },
  ),

  'recreated-while-binding': scenario(
    'members of a deleted PodGroup do not count for the next one of its name',
    async (stage) => {
      stage.partialForMs = hangsMs;
      await stage.addNodes({ name: 'eight', allocatable: { cpu: '8' } });
      const proxy = await stage.openProxy();
      const held = deferred();
      proxy.fault = onBindingsOfPods(async (pod) => {
        if (pod <= 2) return undefined;
        await held.promise;
        return statusAnswer(422, 'Invalid', 'rejected for a test');
      });
      const scheduler = await stage.startScheduler({ through: proxy });
      const group = await stage.createNativeGroup('train', { minCount: 4 });
      const gang = await stage.createPods('train', 4, member);
      await expectCountBound(stage.record, gang, 2);
      await stage.deleteGroup(group);
      await stage.createNativeGroup('train', { minCount: 4 });
      await untilSeen(scheduler, group, ({ minMember, counted }) => minMember === 4 && counted === 0);
      held.resolve();
      proxy.fault = undefined;
      const former = gang.filter((key) => nodeOf(stage.record, key) !== undefined);
      const rest = gang.filter((key) => !former.includes(key));
      await expectVerdict(stage.record, rest, { reason: 'WaitingForGang', says: ['has 2 of the 4 members'] });
      expectNeverBound(stage.record, rest);
      // As their controller would recreate them.
      for (const key of former) await stage.deletePod(key);
      await expectBound(stage.record, [...rest, ...(await stage.createPods('again', 2, member))]);
    },
  ),
} as const satisfies Record<string, Scenario>;

/** Creates a gang of four that fits. The scheduler has made its plan, and sends no Binding before `release`. */
async function plannedGang(stage: Stage): Promise<{
  readonly gang: string[];
  readonly group: string;
  readonly scheduler: RunningProcess;
  readonly release: () => void;
}> {
  await stage.addNodes({ name: 'eight', allocatable: { cpu: '8' } });
  const [planned, released] = [deferred(), deferred()];
  const own: OwnPlugin = {
    name: 'Holds',
    factory: () => ({
      name: 'Holds',
      preBind: async () => {
        planned.resolve();
        await released.promise;
        return undefined;
      },
    }),
  };
  const scheduler = await stage.startScheduler({ own });
  const group = await stage.createNativeGroup('train', { minCount: 4 });
  const gang = await stage.createPods('train', 4, member);
  await planned.promise;
  return { gang, group, scheduler, release: () => released.resolve() };
}
