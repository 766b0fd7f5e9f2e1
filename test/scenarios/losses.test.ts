import { describe } from 'vitest';
import { losses } from './losses.ts';
import { play } from './play.ts';

describe('Groups that lose members', () => {
  play(losses);
});
