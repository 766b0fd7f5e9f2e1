import { describe } from 'vitest';
import { controller } from './controller.ts';
import { play } from './play.ts';

describe('PodGroup controller', () => {
  play(controller);
});
