import type { CreateSchedulerOptions } from 'tutti-scheduler';
import { examplePlugin } from './example-plugin.ts';

/** The score of the plugin counts a hundred times as much as that of NodeResourcesFit. Two other score plugins are disabled. */
export const scheduler: CreateSchedulerOptions = {
  plugins: [examplePlugin],
  profiles: [
    {
      schedulerName: 'random-scheduler',
      disabled: ['TaintToleration', 'NodeAffinity'],
      enabled: [{ name: 'ExamplePlugin', weight: 100 }],
    },
  ],
};
