const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** Formats a duration as kubectl does: `45s`, `3m20s`, `17m`, `5h3m`, `30h`, `5d2h`, `40d`, `3y17d`. */
export function humanDuration(milliseconds: number): string {
  if (milliseconds < -2 * second) return '<invalid>';
  const duration = Math.max(milliseconds, 0);
  const whole = (unit: number): number => Math.floor(duration / unit);
  const pair = (unit: number, name: string, rest: number, restName: string): string => {
    const remainder = Math.floor((duration % unit) / rest);
    return remainder === 0 ? `${whole(unit)}${name}` : `${whole(unit)}${name}${remainder}${restName}`;
  };
  if (duration < 2 * minute) return `${whole(second)}s`;
  if (duration < 10 * minute) return pair(minute, 'm', second, 's');
  if (duration < 3 * hour) return `${whole(minute)}m`;
  if (duration < 8 * hour) return pair(hour, 'h', minute, 'm');
  if (duration < 2 * day) return `${whole(hour)}h`;
  if (duration < 8 * day) return pair(day, 'd', hour, 'h');
  if (duration < 2 * year) return `${whole(day)}d`;
  if (duration < 8 * year) return pair(year, 'y', day, 'd');
  return `${whole(year)}y`;
}
