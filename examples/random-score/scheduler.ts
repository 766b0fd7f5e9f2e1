import type { CreateSchedulerOptions } from 'tutti-scheduler';
import { examplePlugin } from './example-plugin.ts';

/** What the plugin says weighs a hundred times what NodeResourcesFit says; two others that score are off. */
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
