import { describe } from 'vitest';
import { play } from './play.ts';
import { preemption } from './preemption.ts';

describe('Preemption', () => {
  play(preemption);
});
