import { describe } from 'vitest';
import { badInput } from './bad-input.ts';
import { play } from './play.ts';

describe('what users and servers get wrong', () => {
  play(badInput);
});
