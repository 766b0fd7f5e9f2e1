import type { OwnPlugin, PlaygroundOptions } from 'tutti-scheduler';

/** Gives each node a random score, so that any node can be the best. */
const randomNode: OwnPlugin = {
  name: 'RandomNode',
  factory: (_args, { random }) => ({
    name: 'RandomNode',
    score: () => 100 * random(),
  }),
};

export const scheduler: PlaygroundOptions = {
  plugins: [randomNode],
  profiles: [
    {
      schedulerName: 'default-scheduler',
      disabled: ['*'], // all default plugins of Tutti
      enabled: ['PrioritySort', 'RandomNode', 'DefaultBinder'],
    },
  ],
};
