import type { Clock } from '../../../src/base/clock.ts';
import { wait } from '../../../src/client/wait.ts';
import type { PluginFactory } from '../../../src/framework/plugin.ts';
import type { SchedulerPlan } from '../scenario.ts';

/** Holds each pod on Permit for a time, then lets it pass: what a plan meant may be over by then. */
export function slowPermit(clock: Clock, { permitMs }: SchedulerPlan): PluginFactory {
  return (_args, { waitingPods }) => ({
    name: 'SlowPermit',
    permit: ({}, { uid }) => {
      clock.setTimer(permitMs, () => waitingPods.get(uid)?.allow('SlowPermit'));
      return { waitMs: permitMs + 60_000 };
    },
  });
}

/** Takes its time before each Binding, as volumes do. */
export function slowPreBind(clock: Clock, { preBindMs }: SchedulerPlan): PluginFactory {
  return () => ({
    name: 'SlowPreBind',
    preBind: async (_state, _pod, _node, signal) => {
      await wait(clock, preBindMs, signal);
      return undefined;
    },
  });
}
