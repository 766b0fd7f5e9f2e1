import type { CreateSchedulerOptions } from 'tutti-scheduler';
import samplePlugin from './sample-plugin.ts';

/** A scheduler with two profiles, one of which enables the plugin. */
export const scheduler: CreateSchedulerOptions = {
  plugins: [samplePlugin],
  profiles: [{ schedulerName: 'tutti' }, { schedulerName: 'sample-scheduler', enabled: ['SamplePlugin'] }],
};
