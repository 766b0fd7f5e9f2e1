import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffDelay, jitteredBackoff } from './backoff.ts';
import { seededRandom } from './random.ts';

const policy = { initialMs: 100, maxMs: 1500 };

describe('a backoff', () => {
  it('doubles up to a cap', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 2000].map((attempt) => backoffDelay(policy, attempt))).toEqual([
      0, 100, 200, 400, 800, 1500, 1500, 1500,
    ]);
  });

  it('with jitter is in the upper half of the delay', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.integer(), (attempt, seed) => {
        const delay = backoffDelay(policy, attempt);
        const drawn = jitteredBackoff(policy, attempt, seededRandom(seed));
        expect(drawn).toBeGreaterThanOrEqual(delay / 2);
        expect(drawn).toBeLessThan(delay);
      }),
    );
  });
});

describe('seededRandom', () => {
  it('returns the same values in [0, 1) for the same seed', () => {
    const draw = (seed: number): number[] => {
      const random = seededRandom(seed);
      return Array.from({ length: 1000 }, random);
    };
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
    expect(draw(3).every((value) => value >= 0 && value < 1)).toBe(true);
    const mean = draw(4).reduce((sum, value) => sum + value, 0) / 1000;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.05);
  });
});
