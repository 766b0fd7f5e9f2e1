import { expectBound } from '../expect/expect-bound.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { toKubernetesTime } from '../../src/api/kubernetes-time.ts';
import { AdvancingClock } from './advancing-clock.ts';
import { cpus, createBudget, createGang, expectEvicted, expectUntouched } from './preemption-stage.ts';
import { scenario } from './scenario.ts';

/** What protects pods: PodDisruptionBudgets, and the arguments of DefaultPreemption. */
export const preemptionPolicy = {
  PE17: scenario(
    'PE17 - a pod preempts a pod that no budget protects, and violates a budget only if no other would do',
    async (stage) => {
      const [a, b] = await stage.addNodes(cpus('a', 1), cpus('b', 1));
      await createBudget(stage, 'spent', { app: 'protected' }, 0);
      const startTime = '2026-01-01T00:00:00Z';
      const open = await stage.createPod('open', { cpu: 1, nodeName: a! });
      const protectedPod = await stage.createPod('protected', { cpu: 1, nodeName: b!, labels: { app: 'protected' } });
      for (const key of [open, protectedPod]) await stage.setPodStatus(key, { startTime });
      await stage.startScheduler();
      const first = await stage.createPod('first', { cpu: 1, priority: 'high' });
      await expectBound(stage.record, [first]);
      await expectEvicted(stage, [open, protectedPod], [open]);
      const second = await stage.createPod('second', { cpu: 1, priority: 'high' });
      await expectBound(stage.record, [second]);
      await expectEvicted(stage, [open, protectedPod], [open, protectedPod]);
    },
  ),

  PE34: scenario('PE34 - pods are not evicted before they have run for the minimum run time', async (stage) => {
    const clock = new AdvancingClock();
    const [node] = await stage.addNodes(cpus('node', 2));
    const low = await stage.createPods('low', 2, { cpu: 1, nodeName: node! });
    const startTime = toKubernetesTime(Date.now() - 5 * 60_000);
    for (const key of low) await stage.setPodStatus(key, { startTime });
    await stage.startScheduler({ clock, args: { DefaultPreemption: { minRuntimeSeconds: 600 } } });
    const high = await createGang(stage, 'high', { minMember: 2 });
    await expectVerdict(stage.record, high, {
      reason: 'Unschedulable',
      says: ['preemption: would need pods that have run for less than 600s.'],
    });
    expectUntouched(stage, low);
    clock.advance(5 * 60_000 + 1_000);
    await expectBound(stage.record, high);
    await expectEvicted(stage, low, low);
  }),
} as const;
