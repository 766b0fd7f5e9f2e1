import { describe } from 'vitest';
import { places } from './places.ts';
import { play } from './play.ts';

describe('where members want to be', () => {
  play(places);
});
