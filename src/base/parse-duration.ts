/** unit -> nanoseconds */
const units: ReadonlyMap<string, number> = new Map([
  ['ns', 1],
  ['us', 1e3],
  ['µs', 1e3], // the micro sign
  ['μs', 1e3], // the Greek letter
  ['ms', 1e6],
  ['s', 1e9],
  ['m', 60e9],
  ['h', 3_600e9],
]);

const numberAndUnit = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy;
/** Go stores nanoseconds in 64 bits. */
const maxNs = 2 ** 63;

/**
 * Parses a duration in Go's notation ("2s", "1m30s", "0") to milliseconds, in whole nanoseconds. Returns undefined for anything
 * else, including negative durations and those that exceed Go's range (292 years).
 */
export function parseDuration(given: string): number | undefined {
  const text = given.replace(/^\+/, '');
  if (text === '0') return 0;
  let total = 0;
  let end = 0;
  for (const match of text.matchAll(numberAndUnit)) {
    total += Number(match[1]) * units.get(match[2]!)!;
    end = match.index + match[0].length;
  }
  return end === text.length && end > 0 && total < maxNs ? Math.round(total) / 1e6 : undefined;
}
