import { expectBound, expectCountBound, expectNeverBound, nodeOf } from '../expect/expect-bound.ts';
import { expectGroupCondition } from '../expect/expect-phase.ts';
import { expectVerdict, expectWarning } from '../expect/expect-verdict.ts';
import { hangsMs } from '../planes/patience.ts';
import { AdvancingClock } from './advancing-clock.ts';
import { onBindingsOfPods } from './broken-bindings.ts';
import { scheduled, unschedulable } from './native-groups-status.ts';
import type { PodSpec } from './pod-manifest.ts';
import { cpus } from './preemption-stage.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';

const member: PodSpec = { schedulingGroup: 'train', cpu: 1 };

/** What a new scheduler does with gangs of Kubernetes itself that the former one has started, whose condition stays True. */
export const nativeGroupsLives = {
  'crash-while-binding': scenario(
    'a new scheduler completes a gang that the first one left partially bound before it starts others',
    async (stage) => {
      stage.partialForMs = hangsMs;
      await stage.addNodes(cpus('node', 3));
      const proxy = await stage.openProxy();
      proxy.fault = onBindingsOfPods((pod) => (pod > 1 ? new Promise(() => undefined) : undefined));
      const first = await stage.startScheduler({ through: proxy });
      await stage.createNativeGroup('train', { minCount: 3 });
      const gang = await stage.createPods('train', 3, member);
      await expectCountBound(stage.record, gang, 1);
      await proxy.cut();
      await first.stop();
      await stage.createNativeGroup('rival', { minCount: 2 });
      const rivals = await stage.createPods('rival', 2, { schedulingGroup: 'rival', cpu: 1 });
      await stage.startScheduler();
      await expectBound(stage.record, gang);
      return () => expectNeverBound(stage.record, rivals);
    },
  ),

  'released-without-members': scenario(
    'a new scheduler releases a gang that the first one left partially bound, and whose other members are gone',
    async (stage) => {
      stage.partialForMs = hangsMs;
      await stage.addNodes(cpus('node', 3));
      await stage.startController();
      const proxy = await stage.openProxy();
      proxy.fault = onBindingsOfPods((pod) => (pod > 1 ? new Promise(() => undefined) : undefined));
      const first = await stage.startScheduler({ through: proxy });
      const group = await stage.createNativeGroup('train', { minCount: 3 });
      const gang = await stage.createPods('train', 3, { ...member, owner: await stage.createOwner('job') });
      await expectCountBound(stage.record, gang, 1);
      await proxy.cut();
      await first.stop();
      const bound = gang.find((key) => nodeOf(stage.record, key) !== undefined)!;
      for (const key of gang) if (key !== bound) await stage.deletePod(key);
      const clock = new AdvancingClock();
      await stage.startScheduler({ clock });
      await expectGroupCondition(stage.record, group, {
        ...unschedulable,
        says: '1 of the 3 pods that it needs are bound',
      });
      clock.advance(61_000);
      await expectWarning(stage.record, [group], { reason: 'Released' });
      await stage.record.until('the bound member is gone', hangsMs, () =>
        stage.record.pods.current.has(bound) ? 'it still exists' : undefined,
      );
    },
  ),

  'refill-after-restart': scenario(
    'a new scheduler refills a started gang, one of whose members has completed',
    async (stage) => {
      await stage.addNodes(cpus('node', 4));
      await stage.startController();
      const first = await stage.startScheduler();
      const group = await stage.createNativeGroup('train', { minCount: 3 });
      const gang = await stage.createPods('train', 3, member);
      await expectBound(stage.record, gang);
      await expectGroupCondition(stage.record, group, scheduled);
      await first.stop();
      await stage.setPodStatus(gang[0]!, { phase: 'Succeeded' });
      await stage.deletePod(gang[1]!);
      await stage.startScheduler();
      await expectBound(stage.record, [await stage.createPod('again', member)]);
    },
  ),

  'second-life': scenario(
    'a gang whose pods are all recreated starts as a whole again, also under a new scheduler',
    async (stage) => {
      const [, small] = await stage.addNodes(cpus('large', 2), cpus('small', 1));
      await stage.startController();
      const first = await stage.startScheduler();
      const group = await stage.createNativeGroup('train', { minCount: 3 });
      const gang = await stage.createPods('train', 3, member);
      await expectBound(stage.record, gang);
      await expectGroupCondition(stage.record, group, scheduled);
      await stage.setNodeSpec(small!, { unschedulable: true });
      for (const key of gang) await stage.deletePod(key);
      const second = await stage.createPods('second', 3, member);
      await expectVerdict(stage.record, second, { reason: 'Unschedulable', says: ['2 of 3 members would fit'] });
      await first.stop();
      await stage.startScheduler();
      const alone = await stage.createPod('alone', { cpu: 1 });
      await expectBound(stage.record, [alone]);
      expectNeverBound(stage.record, second);
      await stage.deletePod(alone);
      await stage.setNodeSpec(small!, { unschedulable: null });
      await expectBound(stage.record, second);
    },
  ),

  'deleted-group': scenario(
    'a PodGroup that is being deleted schedules its pods until it is gone, as its finalizer asks',
    async (stage) => {
      await stage.addNodes(cpus('node', 4));
      await stage.startScheduler();
      const group = await stage.createNativeGroup('train', { minCount: 2 });
      await stage.patchGroup(group, { metadata: { finalizers: ['scheduling.k8s.io/podgroup-protection'] } });
      const gang = await stage.createPods('train', 1, member);
      await stage.client.delete(stage.groupPath(group));
      gang.push(await stage.createPod('late', member));
      await expectBound(stage.record, gang);
      await stage.patchGroup(group, { metadata: { finalizers: null } });
      const orphan = await stage.createPod('orphan', member);
      await expectVerdict(stage.record, [orphan], { reason: 'WaitingForGang', says: ['does not exist'] });
      return () => {
        expectNeverBound(stage.record, [orphan]);
        if (gang.some((key) => nodeOf(stage.record, key) === undefined)) throw new Error('a bound member was deleted');
      };
    },
  ),
} as const satisfies Record<string, Scenario>;
