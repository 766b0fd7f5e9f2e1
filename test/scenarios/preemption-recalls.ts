import { deferred } from '../../src/base/deferred.ts';
import type { RunningProcess } from '../../src/compose/running-process.ts';
import type { OwnPlugin } from '../../src/plugins/own-plugin.ts';
import { expectBound, expectNeverBound } from '../expect/expect-bound.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { hangsMs } from '../planes/patience.ts';
import { priorities } from './pod-manifest.ts';
import { createGang, cpus, expectNotDeleted, expectEvicted } from './preemption-stage.ts';
import { scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

/** Pods and gangs of low priority that are not bound yet, but already have capacity. */
export const preemptionRecalls = {
  PE28: scenario(
    'PE28 - a gang that waits at Permit makes way for a higher priority, and no pod is deleted',
    async (stage) => {
      const { plugin, held } = holdsAt('permit');
      const { low, high } = await raceFor(stage, plugin, held);
      await expectBound(stage.record, high);
      await expectVerdict(stage.record, low, { reason: 'Unschedulable' });
      return () => {
        expectNeverBound(stage.record, low);
        expectNotDeleted(stage, low);
      };
    },
  ),

  PE29: scenario(
    'PE29 - a gang in PreBind makes way for a higher priority as a whole, and one whose Binding has been sent once it is bound',
    async (stage) => {
      const { plugin, held } = holdsAt('preBind');
      const { scheduler, low, high } = await raceFor(stage, plugin, held);
      await expectBound(stage.record, high);
      expectNeverBound(stage.record, low);
      expectNotDeleted(stage, low);
      await scheduler.stop();

      const proxy = await stage.openProxy();
      const [sent, released] = [deferred(), deferred()];
      proxy.fault = async ({ method, path }) => {
        if (method !== 'POST' || !path.includes('/pods/second-0/binding')) return undefined;
        sent.resolve();
        await released.promise;
        return undefined;
      };
      await stage.addNodes(cpus('other', 1));
      await stage.startScheduler({ through: proxy });
      const second = await stage.createPod('second-0', { cpu: 1 });
      await sent.promise;
      const later = await stage.createPod('later', { cpu: 1, priority: 'high' });
      await expectVerdict(stage.record, [later], { reason: 'Unschedulable' });
      expectNotDeleted(stage, [second]);
      released.resolve();
      await expectBound(stage.record, [later]);
      await expectEvicted(stage, [second], [second]);
    },
  ),
} as const;

/** Starts a gang of low priority, and one of high priority when the first one is held by the plugin. Both need the whole node. */
async function raceFor(
  stage: Stage,
  own: OwnPlugin,
  held: Promise<void>,
): Promise<{ readonly scheduler: RunningProcess; readonly low: string[]; readonly high: string[] }> {
  await stage.addNodes(cpus('node', 2));
  const scheduler = await stage.startScheduler({ own });
  const low = await createGang(stage, 'low', { minMember: 2 }, { priority: 'low' });
  await held;
  return { scheduler, low, high: await createGang(stage, 'high', { minMember: 2 }) };
}

/** Returns a plugin that lets pods of low priority wait, and a promise that resolves when the first one does. */
function holdsAt(point: 'permit' | 'preBind'): { readonly plugin: OwnPlugin; readonly held: Promise<void> } {
  const held = deferred();
  const isLow = ({ priority }: { readonly priority: number }): boolean => priority === priorities.low;
  const plugin: OwnPlugin = {
    name: 'Holds',
    factory: () => ({
      name: 'Holds',
      ...(point === 'permit' && {
        permit: (_state, pod) => {
          if (!isLow(pod)) return undefined;
          held.resolve();
          return { waitMs: 10 * hangsMs };
        },
      }),
      ...(point === 'preBind' && {
        preBind: (_state, pod, _nodeName, signal) => {
          if (!isLow(pod)) return Promise.resolve(undefined);
          held.resolve();
          return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
        },
      }),
    }),
  };
  return { plugin, held: held.promise };
}
