import type { Clock } from '../../../src/base/clock.ts';
import type { Random } from '../../../src/base/random.ts';
import type { KubeClient } from '../../../src/client/kube-client.ts';
import { wait } from '../../../src/client/wait.ts';
import { WholeObjects } from '../../../src/scheduler/api/whole-objects.ts';
import type { ExtenderPort } from '../../../src/scheduler/ports.ts';
import { managedLabel } from '../checks/plain-objects.ts';
import { volumesFailForMs } from '../scenario.ts';
import type { ExtenderPlan } from '../scenario.ts';

/** An extender that takes its time, fails at first, and refuses some nodes to the pods that it handles. */
export function simulatedExtender(
  { refused, respondsInMs, failing }: ExtenderPlan,
  { client, clock, random }: { readonly client: KubeClient; readonly clock: Clock; readonly random: Random },
): ExtenderPort {
  const objects = new WholeObjects({ client, clock, random });
  return {
    whole: (pod, signal) => objects.pod(pod, signal),
    extenders: [
      {
        name: 'simulated',
        isIgnorable: false,
        managedResources: [],
        weight: 1,
        async filter({ json }, nodes, signal) {
          await wait(clock, respondsInMs * random(), signal);
          if (clock.monotonic() < volumesFailForMs && random() < failing) throw new Error('the extender failed');
          const isManaged = JSON.parse(json).metadata.labels?.[managedLabel] === 'true';
          const names = nodes.map(({ name }) => name);
          const isRefused = (name: string): boolean => isManaged && refused.includes(name);
          return {
            passed: new Set(names.filter((name) => !isRefused(name))),
            failed: new Map(names.filter(isRefused).map((name) => [name, 'the extender refused it'])),
            unresolvable: new Map(),
          };
        },
      },
    ],
  };
}
