/** Above this, a product with 100 or a quotient is not exact in a double. */
const largestExact = 2 ** 45;

/** Returns `part` as a percentage of `whole`, rounded down. Both are whole numbers of at least 0; `whole` is not 0. */
export function wholePercent(part: number, whole: number): number {
  if (part <= largestExact && whole <= largestExact) return Math.floor((part * 100) / whole);
  return Number((BigInt(part) * 100n) / BigInt(whole));
}
