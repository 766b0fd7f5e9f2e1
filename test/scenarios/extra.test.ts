import { describe } from 'vitest';
import { extra } from './extra.ts';
import { play } from './play.ts';

describe('what others met', () => {
  play(extra);
});
