import { describe } from 'vitest';
import { brokenBindings } from './broken-bindings.ts';
import { play } from './play.ts';

describe('Failing Bindings', () => {
  play(brokenBindings);
});
