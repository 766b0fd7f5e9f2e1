import { describe } from 'vitest';
import { jobs } from './jobs.ts';
import { play } from './play.ts';

describe('Jobs', () => {
  play(jobs);
});
