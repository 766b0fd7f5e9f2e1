import type { PodTimes } from './load/load-protocol.ts';
import { minimumVictims, victimCount } from './workload.ts';
import type { Workload } from './workload.ts';

/** Figures of one run from the watch of the pods. Times are in milliseconds. */
export interface SchedulingFigures {
  readonly bound: number;
  readonly wholeGangs: number;
  /** Gangs with bound and unbound members at the end of the run. Single pods do not count. */
  readonly partialGangs: number;
  /** Time from the start to the last binding of a complete gang. 0 if no gang is complete. */
  readonly seconds: number;
  /** Pods of complete gangs, divided by `seconds`. */
  readonly podsPerSecond: number;
  /** From the creation of a pod, or the start if that is later, to its binding. Absent if no pod was bound. */
  readonly latencyP50Ms?: number;
  readonly latencyP99Ms?: number;
  /** From the first to the last binding of a complete gang. Absent for single pods, and if no gang is complete. */
  readonly spreadP50Ms?: number;
  readonly spreadP99Ms?: number;
}

/** Figures of one run about the pods that were evicted. */
export interface PreemptionFigures {
  readonly evicted: number;
  /** Evicted pods beyond the smallest number whose capacity is enough for the complete gangs. */
  readonly evictedInVain: number;
  /** Gangs of victims of which some pods were evicted, but not all. Absent if the victims are single pods. */
  readonly tornGangs?: number;
}

interface GangTally {
  bound: number;
  firstAt: number;
  lastAt: number;
}

/** `startAt`: time of the first create. For a backlog, the time when the scheduler was ready. */
export function schedulingFigures(workload: Workload, pods: readonly PodTimes[], startAt: number): SchedulingFigures {
  const gangs = Array.from({ length: workload.gangs }, (): GangTally => ({ bound: 0, firstAt: Infinity, lastAt: 0 }));
  const latencies: number[] = [];
  for (const { gang, createdAt, boundAt } of pods) {
    if (boundAt === undefined) continue;
    latencies.push(boundAt - Math.max(createdAt, startAt));
    const tally = gangs[gang]!;
    tally.bound++;
    tally.firstAt = Math.min(tally.firstAt, boundAt);
    tally.lastAt = Math.max(tally.lastAt, boundAt);
  }
  const whole = gangs.filter(({ bound }) => bound === workload.gangSize);
  const seconds = whole.length === 0 ? 0 : (Math.max(...whole.map(({ lastAt }) => lastAt)) - startAt) / 1000;
  const spreads = workload.gangSize === 1 ? [] : whole.map(({ firstAt, lastAt }) => lastAt - firstAt);
  return {
    bound: latencies.length,
    wholeGangs: whole.length,
    partialGangs: gangs.filter(({ bound }) => bound > 0 && bound < workload.gangSize).length,
    seconds,
    podsPerSecond: seconds === 0 ? 0 : (whole.length * workload.gangSize) / seconds,
    ...(latencies.length > 0 && {
      latencyP50Ms: percentile(latencies, 50),
      latencyP99Ms: percentile(latencies, 99),
    }),
    ...(spreads.length > 0 && { spreadP50Ms: percentile(spreads, 50), spreadP99Ms: percentile(spreads, 99) }),
  };
}

/** `evicted`: indexes of the evicted pods. Returns undefined if the workload does not preempt. */
export function preemptionFigures(
  workload: Workload,
  { wholeGangs }: Pick<SchedulingFigures, 'wholeGangs'>,
  evicted: readonly number[],
): PreemptionFigures | undefined {
  const { victims } = workload;
  if (victims === undefined) return undefined;
  const { gangSize } = victims;
  const evictedOf = new Uint32Array(victimCount(workload) / gangSize);
  for (const index of evicted) evictedOf[Math.floor(index / gangSize)]!++;
  const needed = minimumVictims(workload, wholeGangs * workload.gangSize);
  return {
    evicted: evicted.length,
    evictedInVain: Math.max(0, evicted.length - needed),
    ...(gangSize > 1 && { tornGangs: evictedOf.filter((count) => count > 0 && count < gangSize).length }),
  };
}

/** Returns the smallest value that `percent` of all values do not exceed (nearest rank). `values` must not be empty. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)]!;
}

/** Returns the middle value, or the mean of the two middle values. `values` must not be empty. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
