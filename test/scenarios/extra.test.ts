import { describe } from 'vitest';
import { extra } from './extra.ts';
import { play } from './play.ts';

describe('Problems of other gang schedulers', () => {
  play(extra);
});
