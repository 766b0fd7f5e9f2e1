import { describe } from 'vitest';
import { demo } from './demo.ts';
import { play } from './play.ts';

describe('Demo', () => {
  play(demo);
});
