/**
 * Returns an integer below 2³² derived from all parts. Each thing that mixes in its own parts gets randomness that does not depend on
 * anything else.
 */
export function mix(...parts: readonly number[]): number {
  let hash = 0x9e3779b9;
  for (const part of parts) {
    hash = Math.imul(hash ^ (part >>> 0), 0x85ebca6b);
    hash ^= hash >>> 13;
    hash = Math.imul(hash, 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
}

/** Returns a number in [0, 1). */
export function share(...parts: readonly number[]): number {
  return mix(...parts) / 2 ** 32;
}
