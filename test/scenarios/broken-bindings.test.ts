import { describe } from 'vitest';
import { brokenBindings } from './broken-bindings.ts';
import { play } from './play.ts';

describe('bindings that fail', () => {
  play(brokenBindings);
});
