/** Beyond this a product with 100, or a quotient, is not exact in a double. */
const largestExact = 2 ** 45;

/** `part` in percent of `whole`, which is not 0, rounded down; both are whole numbers of 0 or more. */
export function wholePercent(part: number, whole: number): number {
  if (part <= largestExact && whole <= largestExact) return Math.floor((part * 100) / whole);
  return Number((BigInt(part) * 100n) / BigInt(whole));
}
