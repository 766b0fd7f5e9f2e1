import { describe, expect, it } from 'vitest';
import { median, percentile, preemptionFigures, schedulingFigures } from './figures.ts';
import type { PodTimes } from './load/load-protocol.ts';
import type { Victims, Workload } from './workload.ts';

const workload = (gangs: number, gangSize: number): Workload => ({
  id: 'some',
  title: 'some',
  nodes: 1,
  nodeCpu: 1,
  gangs,
  gangSize,
  order: 'sequential',
  loading: 'arriving',
  fitting: gangs,
});

describe('schedulingFigures', () => {
  it('counts only pods of complete gangs in the rate, and distinguishes partial gangs from unscheduled ones', () => {
    const pods: PodTimes[] = [
      { gang: 0, createdAt: 1000, boundAt: 1500 },
      { gang: 0, createdAt: 1000, boundAt: 2000 },
      { gang: 1, createdAt: 1000, boundAt: 5000 },
      { gang: 1, createdAt: 1000 },
      { gang: 2, createdAt: 1000 },
      { gang: 2, createdAt: 1000 },
    ];
    expect(schedulingFigures(workload(3, 2), pods, 1000)).toEqual({
      bound: 3,
      wholeGangs: 1,
      partialGangs: 1,
      seconds: 1,
      podsPerSecond: 2,
      latencyP50Ms: 1000,
      latencyP99Ms: 4000,
      spreadP50Ms: 500,
      spreadP99Ms: 500,
    });
  });

  it('measures a backlog from the time when the scheduler is ready, not from the creation of the pods', () => {
    const figures = schedulingFigures(workload(1, 1), [{ gang: 0, createdAt: 0, boundAt: 9500 }], 9000);
    expect(figures).toMatchObject({ latencyP50Ms: 500, seconds: 0.5 });
  });

  it('has no spread and no partial gangs for single pods', () => {
    const pods = [
      { gang: 0, createdAt: 0, boundAt: 10 },
      { gang: 1, createdAt: 0 },
    ];
    const figures = schedulingFigures(workload(2, 1), pods, 0);
    expect(figures).toMatchObject({ wholeGangs: 1, partialGangs: 0 });
    expect(figures).not.toHaveProperty('spreadP50Ms');
  });

  it('has a rate of zero and no times if no pod was bound', () => {
    expect(schedulingFigures(workload(1, 1), [{ gang: 0, createdAt: 0 }], 0)).toEqual({
      bound: 0,
      wholeGangs: 0,
      partialGangs: 0,
      seconds: 0,
      podsPerSecond: 0,
    });
  });

  it('computes percentiles by nearest rank, and medians as the mean of the two middle values', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect([percentile(hundred, 50), percentile(hundred, 99), percentile([7], 99)]).toEqual([50, 99, 7]);
    expect([median([3, 1, 2]), median([4, 1, 3, 2])]).toEqual([2, 2.5]);
  });
});

describe('preemptionFigures', () => {
  /** Ten nodes. */
  const preempting = (gangs: number, gangSize: number, victims: Victims): Workload => ({
    ...workload(gangs, gangSize),
    nodes: 10,
    victims,
  });
  const evicted = (...ranges: [from: number, to: number][]): number[] =>
    ranges.flatMap(([from, to]) => Array.from({ length: to - from }, (_, i) => from + i));

  it('counts the victims beyond what the complete gangs need as evicted in vain', () => {
    const lone = preempting(2, 3, { perNode: 4, cpu: '1', gangSize: 1, neededPerPod: 2 });
    expect(preemptionFigures(lone, { wholeGangs: 2 }, evicted([0, 12]))).toEqual({ evicted: 12, evictedInVain: 0 });
    expect(preemptionFigures(lone, { wholeGangs: 2 }, evicted([0, 13]))).toEqual({ evicted: 13, evictedInVain: 1 });
    expect(preemptionFigures(lone, { wholeGangs: 1 }, evicted([0, 12]))).toEqual({ evicted: 12, evictedInVain: 6 });
    expect(preemptionFigures(lone, { wholeGangs: 2 }, [])).toEqual({ evicted: 0, evictedInVain: 0 });
  });

  it('expects gangs of victims to go as a whole, and counts those of which a part went', () => {
    // Each gang is on five nodes, and two of them fill these.
    const gangs = preempting(3, 1, { perNode: 2, cpu: '1', gangSize: 5, neededPerPod: 2 });
    expect(preemptionFigures(gangs, { wholeGangs: 3 }, evicted([0, 5], [10, 15]))).toEqual({
      evicted: 10,
      evictedInVain: 0,
      tornGangs: 0,
    });
    expect(preemptionFigures(gangs, { wholeGangs: 3 }, evicted([0, 6], [10, 15]))).toEqual({
      evicted: 11,
      evictedInVain: 1,
      tornGangs: 1,
    });
  });

  it('are absent if the workload does not preempt', () => {
    expect(preemptionFigures(workload(1, 1), { wholeGangs: 1 }, [])).toBeUndefined();
  });
});
