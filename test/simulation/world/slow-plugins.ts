import type { Clock } from '../../../src/base/clock.ts';
import type { Random } from '../../../src/base/random.ts';
import { wait } from '../../../src/client/wait.ts';
import type { PluginFactory } from '../../../src/framework/plugin.ts';
import { volumesFailForMs } from '../scenario.ts';
import type { SchedulerPlan } from '../scenario.ts';

/** Holds each pod at Permit for a time and then allows it: by then the plan may be outdated. */
export function slowPermit(clock: Clock, { permitMs }: SchedulerPlan): PluginFactory {
  return (_args, { waitingPods }) => ({
    name: 'SlowPermit',
    permit: (_state, { uid }) => {
      clock.setTimer(permitMs, () => waitingPods.get(uid)?.allow('SlowPermit'));
      return { waitMs: permitMs + 60_000 };
    },
  });
}

/** Delays each Binding, as volumes do, and at first fails one time in four. */
export function slowPreBind(clock: Clock, random: Random, { preBindMs }: SchedulerPlan): PluginFactory {
  return (_args, { Status }) => ({
    name: 'SlowPreBind',
    preBind: async (_state, _pod, _node, signal) => {
      await wait(clock, preBindMs * random(), signal);
      return clock.monotonic() < volumesFailForMs && random() < 0.25
        ? new Status('Error', 'the volume could not be attached')
        : undefined;
    },
  });
}
