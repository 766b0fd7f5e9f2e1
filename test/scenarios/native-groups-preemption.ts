import { expectBound, expectNeverBound } from '../expect/expect-bound.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import type { NativeGroupSpec } from './native-group-manifest.ts';
import { cpus, expectCountEvicted, expectEvicted, expectMarkedFirst, expectUntouched } from './preemption-stage.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

/** PodGroups of Kubernetes itself under preemption. */
export const nativeGroupsPreemption = {
  'disruption-all': scenario(
    'preemption evicts all members of a gang with the disruption mode all, also those beyond its quorum',
    async (stage) => {
      const low = await fullNode(stage, { minCount: 2, disruptionMode: 'all' }, 30);
      const high = await stage.createPod('high', { cpu: 1, priority: 'high' });
      await expectEvicted(stage, low, low);
      expectMarkedFirst(stage, low);
      for (const key of low) await stage.deletePod(key);
      await expectBound(stage.record, [high]);
    },
  ),

  'disruption-single': scenario(
    'preemption evicts single members of a gang with the disruption mode single, and at its quorum the gang as a whole',
    async (stage) => {
      const low = await fullNode(stage, { minCount: 2, disruptionMode: 'single' });
      await expectBound(stage.record, [await stage.createPod('high-0', { cpu: 1, priority: 'high' })]);
      const [gone] = await expectCountEvicted(stage, low, 1);
      const left = low.filter((key) => key !== gone);
      await expectBound(stage.record, [await stage.createPod('high-1', { cpu: 1, priority: 'high' })]);
      const [alsoGone] = await expectCountEvicted(stage, left, 1);
      const quorum = left.filter((key) => key !== alsoGone);
      expectUntouched(stage, quorum);
      // kube-scheduler would evict one member and leave the other.
      await expectBound(stage.record, [await stage.createPod('high-2', { cpu: 1, priority: 'high' })]);
      await expectEvicted(stage, quorum, quorum);
    },
  ),

  'basic-victims': scenario('preemption evicts the pods of a basic group one by one', async (stage) => {
    const low = await fullNode(stage, {});
    await expectBound(stage.record, [await stage.createPod('high', { cpu: 1, priority: 'high' })]);
    const [gone] = await expectCountEvicted(stage, low, 1);
    return () =>
      expectUntouched(
        stage,
        low.filter((key) => key !== gone),
      );
  }),

  preempts: scenario(
    'a gang preempts what it needs for all of its members, and nothing if they do not fit',
    async (stage) => {
      const low = await fullNode(stage, { minCount: 1 });
      await stage.createNativeGroup('huge', { minCount: 5, priority: 'high' });
      const huge = await stage.createPods('huge', 5, { schedulingGroup: 'huge', cpu: 1, priority: 'high' });
      await expectVerdict(stage.record, huge, {
        reason: 'Unschedulable',
        says: ['4 of 5 members fit even with 4 pods of lower priority gone'],
      });
      expectUntouched(stage, low);
      await stage.createNativeGroup('high', { minCount: 2, priority: 'high' });
      const high = await stage.createPods('high', 2, { schedulingGroup: 'high', cpu: 1, priority: 'high' });
      await expectBound(stage.record, high);
      const gone = await expectCountEvicted(stage, low, 2);
      return () => {
        expectNeverBound(stage.record, huge);
        expectUntouched(
          stage,
          low.filter((key) => !gone.includes(key)),
        );
      };
    },
  ),
} as const satisfies Record<string, Scenario>;

/** Starts a scheduler on one node of four CPUs, and a group of four pods of low priority that fills it. Returns its pods. */
async function fullNode(stage: Stage, group: NativeGroupSpec, grace = 0): Promise<string[]> {
  await stage.addNodes(cpus('node', 4));
  await stage.startScheduler();
  await stage.createNativeGroup('low', group);
  const low = await stage.createPods('low', 4, { schedulingGroup: 'low', cpu: 1, grace });
  await expectBound(stage.record, low);
  return low;
}
