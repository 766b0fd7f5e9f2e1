import { percentile } from '../peers/figures.ts';
import { dayMs } from './job-mix.ts';
import { clusterGpus, sizeClasses } from './job.ts';
import type { SizeClass } from './job.ts';
import type { FinishedJob } from './run-day.ts';

export interface DayFigures {
  /** Time from submission to start, in milliseconds. */
  readonly waits: Readonly<Record<SizeClass, { readonly median: number; readonly p99: number; readonly max: number }>>;
  /** Share of the GPU time that jobs used, from the fourth hour to the end of the day. */
  readonly utilization: number;
}

/** The cluster is empty at the start of the day, so the first hours do not count for its utilization. */
const from = dayMs / 6;

/** `days`: the finished jobs of each day. Waits are those of all days together. */
export function figuresOf(days: readonly (readonly FinishedJob[])[]): DayFigures {
  const finished = days.flat();
  const waitsOf = (size: SizeClass): DayFigures['waits'][SizeClass] => {
    const waits = finished
      .filter(({ job }) => job.class === size)
      .map(({ job, startedAt }) => startedAt - job.submittedAt);
    if (waits.length === 0) return { median: 0, p99: 0, max: 0 };
    return { median: percentile(waits, 50), p99: percentile(waits, 99), max: percentile(waits, 100) };
  };
  const used = finished.reduce((sum, { job, startedAt, endedAt }) => {
    const ms = Math.max(0, Math.min(endedAt, dayMs) - Math.max(startedAt, from));
    return sum + ms * job.members * job.gpus;
  }, 0);
  return {
    waits: Object.fromEntries(sizeClasses.map((size) => [size, waitsOf(size)])) as DayFigures['waits'],
    utilization: used / (days.length * clusterGpus * (dayMs - from)),
  };
}
