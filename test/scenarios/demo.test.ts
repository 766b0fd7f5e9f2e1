import { describe } from 'vitest';
import { demo } from './demo.ts';
import { play } from './play.ts';

describe('the demonstration', () => {
  play(demo);
});
