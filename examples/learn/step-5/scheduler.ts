import type { OwnPlugin, PlaygroundOptions } from 'tutti-scheduler';
import { nodeUnschedulable } from '../step-2/scheduler.ts';
import { lastDigit } from '../step-3/scheduler.ts';

/** Prefers the node with the same digit, and delays binding by as many seconds as the digit. */
export const nodeNumber: OwnPlugin = {
  name: 'NodeNumber',
  factory: (_args, { clock, logger, waitingPods }) => ({
    name: 'NodeNumber',
    score: (_state, pod, { name }) => (lastDigit(pod.name) === lastDigit(name) ? 10 : 0),
    permit: (_state, pod, nodeName) => {
      const seconds = lastDigit(nodeName) ?? 0;
      if (seconds === 0) return undefined;
      logger.info(`${pod.name} has ${nodeName}, and waits ${seconds} s`);
      clock.setTimer(1000 * seconds, () => waitingPods.get(pod.uid)?.allow('NodeNumber'));
      return { waitMs: 10_000 };
    },
  }),
};

export const scheduler: PlaygroundOptions = {
  plugins: [nodeUnschedulable, nodeNumber],
  profiles: [
    {
      schedulerName: 'default-scheduler',
      disabled: ['*'],
      enabled: ['PrioritySort', 'NodeUnschedulable', 'NodeNumber', 'DefaultBinder'],
    },
  ],
};
