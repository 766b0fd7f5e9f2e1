import type { Job } from './job.ts';

/** The time that a scheduler has reached, and the jobs that it started then. */
export interface DayProgress {
  readonly now: number;
  readonly started: readonly Job[];
}

/** A scheduler that starts the jobs of a day. Times are in milliseconds from the start of the day. */
export interface DayScheduler {
  submit(job: Job, now: number): void;
  /** All members of a job that it had started have ended. */
  ended(job: Job, now: number): void;
  /** Schedules until that time, or until it starts jobs. It gets no call before all earlier promises have settled. */
  runUntil(time: number): Promise<DayProgress>;
  /** Returns the first start that was predicted for a job. Absent: it predicts none. */
  predictedStartOf?(job: Job): number | undefined;
}
