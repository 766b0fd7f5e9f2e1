import { describe } from 'vitest';
import { places } from './places.ts';
import { play } from './play.ts';

describe('Affinity and topology spread of gangs', () => {
  play(places);
});
