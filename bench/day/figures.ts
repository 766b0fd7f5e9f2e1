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
  /** Jobs with a predicted start. Undefined: there are none. */
  readonly predictions: { readonly count: number; readonly missed: number; readonly medianError: number } | undefined;
}

/** The cluster is empty at the start of the day, so the first hours do not count for its utilization. */
const from = dayMs / 6;

/** A start that is later than predicted by this much is on time: a declared end becomes known only when the pod has left. */
const toleranceMs = 45_000;

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
  const predicted = finished.filter(({ predictedStart }) => predictedStart !== undefined);
  const lateMs = predicted.map(({ startedAt, predictedStart }) => startedAt - predictedStart!);
  const errors = predicted.map(
    ({ job, startedAt, predictedStart }) =>
      Math.abs(startedAt - predictedStart!) / Math.max(toleranceMs, predictedStart! - job.submittedAt),
  );
  const used = finished.reduce((sum, { job, startedAt, endedAt }) => {
    const ms = Math.max(0, Math.min(endedAt, dayMs) - Math.max(startedAt, from));
    return sum + ms * job.members * job.gpus;
  }, 0);
  return {
    waits: Object.fromEntries(sizeClasses.map((size) => [size, waitsOf(size)])) as DayFigures['waits'],
    predictions:
      predicted.length === 0
        ? undefined
        : {
            count: predicted.length,
            missed: lateMs.filter((ms) => ms > toleranceMs).length,
            medianError: percentile(errors, 50),
          },
    utilization: used / (days.length * clusterGpus * (dayMs - from)),
  };
}
