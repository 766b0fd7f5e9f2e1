import { describe, expect, it } from 'vitest';
import { backfill } from './backfill.ts';
import { play } from './play.ts';

describe('Reservations with a predicted start', () => {
  play(backfill);

  it('have a scenario for each case', () => {
    const ids = [1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 14, 15, 16].map((number) => `BF${number}`);
    expect(Object.keys(backfill)).toEqual(expect.arrayContaining(ids));
    for (const id of ids) expect(backfill[id as keyof typeof backfill].title).toMatch(new RegExp(`^${id} - `));
  });
});
