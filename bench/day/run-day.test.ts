import { describe, expect, it } from 'vitest';
import { drawJobs } from './job-mix.ts';
import { clusterGpus } from './job.ts';
import type { Job } from './job.ts';
import { Easy, Ideal, StrictFifo } from './modeled-schedulers.ts';
import { runDay } from './run-day.ts';
import type { FinishedJob } from './run-day.ts';
import { Tutti } from './tutti.ts';

const minute = 60_000;

/** A job of whole nodes. Times are in minutes. */
function job(id: number, at: number, nodes: number, runtime: number, declared = runtime): Job {
  const times = { submittedAt: at * minute, runtimeMs: runtime * minute, declaredMs: declared * minute };
  return { id, class: 'medium', members: nodes, gpus: 8, ...times };
}

/** Returns id -> minute of the start. */
function startsOf(finished: readonly FinishedJob[]): Record<number, number> {
  return Object.fromEntries(finished.map((each) => [each.job.id, each.startedAt / minute]));
}

/** Returns the most GPUs in use at a time. */
function mostUsed(finished: readonly FinishedJob[]): number {
  const changes = finished.flatMap(({ job: { members, gpus }, startedAt, endedAt }) => [
    { at: startedAt, gpus: members * gpus },
    { at: endedAt, gpus: -members * gpus },
  ]);
  let [used, most] = [0, 0];
  for (const { gpus } of changes.sort((a, b) => a.at - b.at || a.gpus - b.gpus)) most = Math.max(most, (used += gpus));
  return most;
}

describe('runDay', () => {
  // 512 nodes. Job 1 waits for job 0. Jobs 2 and 4 can start before it, job 3 would delay it.
  const jobs = [job(0, 0, 300, 60), job(1, 1, 400, 60), job(2, 2, 1, 30), job(3, 3, 150, 90), job(4, 4, 100, 90)];

  it('starts jobs in order with StrictFifo', async () => {
    expect(startsOf(await runDay(new StrictFifo(), jobs))).toEqual({ 0: 0, 1: 60, 2: 60, 3: 120, 4: 120 });
  });

  it('delays the first waiting job for no other job with Easy', async () => {
    expect(startsOf(await runDay(new Easy(), jobs))).toEqual({ 0: 0, 1: 60, 2: 2, 3: 120, 4: 4 });
  });

  it('starts whatever fits with Tutti, which reserves nothing for a job that waits', async () => {
    expect(startsOf(await runDay(new Tutti('pack'), jobs))).toEqual({ 0: 0, 1: 93, 2: 2, 3: 3, 4: 60 });
  });

  it('starts the first waiting job late with Easy if another one runs for longer than declared', async () => {
    const overrun = [job(0, 0, 300, 60, 10), ...jobs.slice(1)];
    expect(startsOf(await runDay(new Easy(), overrun))).toEqual({ 0: 0, 1: 60, 2: 2, 3: 120, 4: 4 });
  });

  it.each([
    ['StrictFifo', () => new StrictFifo()],
    ['Easy', () => new Easy()],
    ['Tutti', () => new Tutti('pack')],
  ])(
    '%s starts each job once, not before its submission, and uses no more GPUs than there are',
    async (_, scheduler) => {
      const drawn = drawJobs({ seed: 3, load: 0.5, declaredError: 0.3 });
      const finished = await runDay(scheduler(), drawn);
      expect(new Set(finished.map((each) => each.job)).size).toBe(drawn.length);
      expect(finished.every((each) => each.startedAt >= each.job.submittedAt)).toBe(true);
      expect(mostUsed(finished)).toBeLessThanOrEqual(clusterGpus);
    },
  );

  it('starts no job earlier in order than Ideal, which has the cluster for each class', async () => {
    const drawn = drawJobs({ seed: 4, load: 1.05, declaredError: 0 });
    const [ideal, fifo] = await Promise.all([new Ideal(), new StrictFifo()].map((each) => runDay(each, drawn)));
    const best = startsOf(ideal!);
    for (const [id, start] of Object.entries(startsOf(fifo!))) expect(start).toBeGreaterThanOrEqual(best[Number(id)]!);
  });
});

describe('drawJobs', () => {
  it('draws the same jobs whatever the error of the declared run times', () => {
    const [exact, wrong] = [0, 1].map((declaredError) => drawJobs({ seed: 1, load: 0.8, declaredError }));
    const withoutDeclared = (jobs: readonly Job[]): object[] => jobs.map(({ declaredMs: _, ...rest }) => rest);
    expect(withoutDeclared(wrong!)).toEqual(withoutDeclared(exact!));
    expect(exact!.every(({ runtimeMs, declaredMs }) => runtimeMs === declaredMs)).toBe(true);
    expect(wrong!.some(({ runtimeMs, declaredMs }) => declaredMs > 1.5 * runtimeMs)).toBe(true);
  });
});
