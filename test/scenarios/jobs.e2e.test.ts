import { describe } from 'vitest';
import { backfillJobs } from './backfill-jobs.ts';
import { jobs } from './jobs.ts';
import { play } from './play.ts';

describe('Jobs', () => {
  play({ ...jobs, ...backfillJobs });
});
