import { expectBound } from '../expect/expect-bound.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { toKubernetesTime } from '../../src/api/kubernetes-time.ts';
import { statusAnswer } from '../planes/api-proxy.ts';
import { hangsMs } from '../planes/patience.ts';
import { AdvancingClock } from './advancing-clock.ts';
import {
  boundGang,
  cpus,
  createBudget,
  createGang,
  expectEvicted,
  expectUntouched,
  onlyOn,
} from './preemption-stage.ts';
import { scenario } from './scenario.ts';

const enforce = { podDisruptionBudgets: 'Enforce' };

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

  PE18: scenario(
    'PE18 - with podDisruptionBudgets: Enforce, pods that a spent budget protects are not evicted',
    async (stage) => {
      const [node] = await stage.addNodes(cpus('node', 1));
      await createBudget(stage, 'spent', { app: 'protected' }, 0);
      const low = await stage.createPod('low', { cpu: 1, nodeName: node!, labels: { app: 'protected' } });
      await stage.startScheduler({ args: { DefaultPreemption: enforce } });
      const high = await stage.createPod('high', { cpu: 1, priority: 'high' });
      await expectVerdict(stage.record, [high], {
        reason: 'Unschedulable',
        says: [`preemption: would need pods protected by a PodDisruptionBudget`],
      });
      return () => expectUntouched(stage, [low]);
    },
  ),

  PE19: scenario(
    'PE19 - with podDisruptionBudgets: Enforce, a gang is not evicted if its budget allows fewer evictions than it has members',
    async (stage) => {
      const [node] = await stage.addNodes(cpus('node', 4));
      await createBudget(stage, 'one', { app: 'protected' }, 1);
      await stage.startScheduler({ args: { DefaultPreemption: enforce } });
      const low = await boundGang(stage, 'low', { minMember: 4 }, [node!, node!, node!, node!], {
        labels: { app: 'protected' },
      });
      const high = await stage.createPod('high', { cpu: 1, priority: 'high' });
      await expectVerdict(stage.record, [high], {
        reason: 'Unschedulable',
        says: [`preemption: would need pods protected by a PodDisruptionBudget`],
      });
      return () => expectUntouched(stage, low);
    },
  ),

  PE20: scenario(
    'PE20 - with podDisruptionBudgets: Enforce, a gang is evicted to its end although its budget shrinks meanwhile',
    async (stage) => {
      const clock = new AdvancingClock();
      const proxy = await stage.openProxy();
      const [node] = await stage.addNodes(cpus('node', 4));
      await createBudget(stage, 'four', { app: 'protected' }, 4);
      await stage.startScheduler({ through: proxy, clock, args: { DefaultPreemption: enforce } });
      const low = await boundGang(stage, 'low', { minMember: 4 }, [node!, node!, node!, node!], {
        labels: { app: 'protected' },
      });
      let [evictions, isSpent] = [0, true];
      proxy.fault = ({ method, path }) => {
        if (method !== 'POST' || !path.endsWith('/eviction')) return undefined;
        const message = "Cannot evict pod as it would violate the pod's disruption budget.";
        return ++evictions > 2 && isSpent ? statusAnswer(429, 'TooManyRequests', message) : undefined;
      };
      const high = await stage.createPod('high', { cpu: 1, priority: 'high' });
      await stage.logs.until(({ message }) => message === 'could not evict a pod');
      await stage.record.until('two members are gone', hangsMs, () => {
        const left = low.filter((key) => stage.record.pods.current.has(key)).length;
        return left === 2 ? undefined : `${left} are left`;
      });
      isSpent = false;
      clock.advance(10_000);
      await expectBound(stage.record, [high]);
      await expectEvicted(stage, low, low);
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

  PE36: scenario('PE36 - members beyond the quorum preempt only with surplusPreempts', async (stage) => {
    const [a, b] = await stage.addNodes(cpus('a', 2), cpus('b', 2));
    const low = await stage.createPods('low', 2, { cpu: 1, nodeName: b! });
    const first = await stage.startScheduler();
    const quorum = await createGang(stage, 'high', { minMember: 2 }, onlyOn(a!));
    await expectBound(stage.record, quorum);
    const surplus = await stage.createPods('more', 2, { cpu: 1, priority: 'high', group: 'high' });
    await expectVerdict(stage.record, surplus, { reason: 'Unschedulable', says: ['preemption: not eligible'] });
    expectUntouched(stage, low);
    await first.stop();
    await stage.startScheduler({ args: { DefaultPreemption: { surplusPreempts: true } } });
    await expectBound(stage.record, surplus);
    await expectEvicted(stage, low, low);
  }),
} as const;
