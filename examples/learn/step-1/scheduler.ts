import type { OwnPlugin, PlaygroundOptions } from 'tutti-scheduler';

/** Gives each node a score by chance, so that any may be the best. */
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
      disabled: ['*'], // all that Tutti would do
      enabled: ['PrioritySort', 'RandomNode', 'DefaultBinder'],
    },
  ],
};
