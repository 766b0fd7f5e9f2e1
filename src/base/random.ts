/** A source of randomness: each call returns a number in [0, 1). Injected, so that a seed reproduces a run. */
export type Random = () => number;

/** Returns a small seeded generator (mulberry32) for tests, the simulation and seeded runs. Not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
