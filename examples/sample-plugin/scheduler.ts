import type { CreateSchedulerOptions } from 'tutti-scheduler';
import samplePlugin from './sample-plugin.ts';

/** One scheduler with two profiles, of which one has the plugin. */
export const scheduler: CreateSchedulerOptions = {
  plugins: [samplePlugin],
  profiles: [{ schedulerName: 'tutti' }, { schedulerName: 'sample-scheduler', enabled: ['SamplePlugin'] }],
};
