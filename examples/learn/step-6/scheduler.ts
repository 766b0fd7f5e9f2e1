import type { OwnPlugin, PlaygroundOptions } from 'tutti-scheduler';
import { nodeUnschedulable } from '../step-2/scheduler.ts';

/** Orders the queue: the pod that has waited longest comes first. The UID breaks ties. */
const oldestFirst: OwnPlugin = {
  name: 'OldestFirst',
  factory: () => ({
    name: 'OldestFirst',
    compare: (a, b) => a.readySince - b.readySince || (a.uid < b.uid ? -1 : 1),
  }),
};

/** Needs an external answer for pods with the name moody, and gets none the first three times. */
const outsideWorld: OwnPlugin = {
  name: 'OutsideWorld',
  factory: (_args, { Status, logger }) => {
    let attempts = 0;
    return {
      name: 'OutsideWorld',
      preFilter: (_state, pod) => {
        if (!pod.name.startsWith('moody') || attempts >= 3) return undefined;
        attempts++;
        logger.info(`attempt ${attempts} for ${pod.name} fails`);
        return new Status('Error', 'the outside world did not answer');
      },
    };
  },
};

export const scheduler: PlaygroundOptions = {
  plugins: [oldestFirst, nodeUnschedulable, outsideWorld],
  profiles: [
    {
      schedulerName: 'default-scheduler',
      disabled: ['*'],
      enabled: ['OldestFirst', 'NodeUnschedulable', 'OutsideWorld', 'DefaultBinder'],
    },
  ],
};
