const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Formats a duration in milliseconds as kubectl does, with at most two units: `45s`, `3m12s`, `41m`, `2h5m`, `3d`. */
export function formatAge(ms: number): string {
  if (ms < 2 * minuteMs) return `${Math.max(0, Math.floor(ms / secondMs))}s`;
  if (ms < 10 * minuteMs) return twoUnits(ms, minuteMs, 'm', secondMs, 's');
  if (ms < 3 * hourMs) return `${Math.floor(ms / minuteMs)}m`;
  if (ms < 8 * hourMs) return twoUnits(ms, hourMs, 'h', minuteMs, 'm');
  if (ms < 2 * dayMs) return `${Math.floor(ms / hourMs)}h`;
  if (ms < 8 * dayMs) return twoUnits(ms, dayMs, 'd', hourMs, 'h');
  return `${Math.floor(ms / dayMs)}d`;
}

function twoUnits(ms: number, big: number, bigName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % big) / small);
  return `${Math.floor(ms / big)}${bigName}${rest === 0 ? '' : `${rest}${smallName}`}`;
}

/** Returns the time since an RFC 3339 time, as `formatAge` shows it; empty without a time. */
export function ageSince(time: string | undefined, now: number): string {
  return time === undefined ? '' : formatAge(now - Date.parse(time));
}
