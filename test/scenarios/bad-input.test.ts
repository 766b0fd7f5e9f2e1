import { describe } from 'vitest';
import { badInput } from './bad-input.ts';
import { play } from './play.ts';

describe('Invalid input', () => {
  play(badInput);
});
