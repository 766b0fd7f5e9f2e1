import { Heap } from '../../src/base/heap.ts';
import type { DayScheduler } from './day-scheduler.ts';
import type { Job } from './job.ts';

/** A job that ran. Times are in milliseconds from the start of the day. */
export interface FinishedJob {
  readonly job: Job;
  readonly startedAt: number;
  readonly endedAt: number;
  /** The start that was predicted first; undefined: none was. */
  readonly predictedStart: number | undefined;
}

/** Maximum time that a scheduler may take to start a job on the empty cluster. */
const patienceMs = 3_600_000;

/** Submits the jobs, which must be in order of submission, and runs the scheduler until all have ended. Rejects if it starts one twice or never. */
export async function runDay(scheduler: DayScheduler, jobs: readonly Job[]): Promise<readonly FinishedJob[]> {
  const finished: FinishedJob[] = [];
  const running = new Heap<FinishedJob>((a, b) => a.endedAt - b.endedAt || a.job.id - b.job.id);
  const open = new Set(jobs);
  let [arrived, time] = [0, 0];
  while (finished.length < jobs.length) {
    const submittedAt = jobs[arrived]?.submittedAt ?? Infinity;
    const next = Math.min(submittedAt, running.peek()?.endedAt ?? Infinity);
    const { now, started } = await scheduler.runUntil(Math.min(next, time + patienceMs));
    for (const job of started) {
      if (!open.delete(job)) throw new Error(`job ${job.id} started twice`);
      const predictedStart = scheduler.predictedStartOf?.(job);
      running.push({ job, startedAt: now, endedAt: now + job.runtimeMs, predictedStart });
    }
    time = now;
    if (started.length > 0 || now < next) {
      if (started.length === 0 && next === Infinity)
        throw new Error(`${open.size} jobs did not start on the empty cluster`);
      continue; // a job may have started that ends before `next`
    }
    for (let ended = running.peek(); ended !== undefined && ended.endedAt <= next; ended = running.peek()) {
      running.pop();
      finished.push(ended);
      scheduler.ended(ended.job, next);
    }
    for (let job = jobs[arrived]; job !== undefined && job.submittedAt <= next; job = jobs[++arrived])
      scheduler.submit(job, next);
  }
  return finished;
}
