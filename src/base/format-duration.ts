const units = [
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

/** Formats milliseconds in Go's notation, as `parseDuration` reads it: `15s`, `1m30s`, `0.5s`. */
export function formatDuration(milliseconds: number): string {
  let text = '';
  let rest = milliseconds;
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  // The smallest unit is a nanosecond.
  const seconds = (rest / 1_000).toFixed(9).replace(/\.?0+$/, '');
  return seconds !== '0' || text === '' ? `${text}${seconds}s` : text;
}
