/** Unit -> milliseconds. */
const units: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

const numberAndUnit = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/gy;

/**
 * A duration in Go's notation ("2s", "1m30s", "0"), in milliseconds; undefined for anything else, negative ones included.
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  let total = 0;
  let end = 0;
  for (const match of text.matchAll(numberAndUnit)) {
    total += Number(match[1]) * units.get(match[2]!)!;
    end = match.index + match[0].length;
  }
  return end === text.length && end > 0 ? total : undefined;
}
