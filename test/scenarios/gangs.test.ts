import { describe } from 'vitest';
import { gangs } from './gangs.ts';
import { play } from './play.ts';

describe('Competing groups', () => {
  play(gangs);
});
