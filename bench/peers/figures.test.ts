import { describe, expect, it } from 'vitest';
import { median, percentile, schedulingFigures } from './figures.ts';
import type { PodTimes } from './load/load-protocol.ts';
import type { Workload } from './workload.ts';

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
