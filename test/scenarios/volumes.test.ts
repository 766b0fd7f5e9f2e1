import { describe } from 'vitest';
import { play } from './play.ts';
import { volumes } from './volumes.ts';

describe('Pods with volumes', () => {
  play(volumes);
});
