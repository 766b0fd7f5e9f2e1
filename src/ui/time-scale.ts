/** Maps times to positions on the screen. */
export interface TimeScale {
  /** The time at the right edge, in milliseconds since the epoch. */
  readonly end: number;
  /** Duration of the visible part, in milliseconds. */
  readonly span: number;
  /** In CSS pixels. */
  readonly width: number;
}

export interface Tick {
  readonly time: number;
  readonly label: string;
}

export const shortestSpan = 30_000;
export const longestSpan = 24 * 3_600_000;

const seconds = 1000;
const minutes = 60 * seconds;
const hours = 60 * minutes;
const steps = [
  ...[1, 5, 10, 30].map((count) => count * seconds),
  ...[1, 2, 5, 10, 30].map((count) => count * minutes),
  ...[1, 2, 3, 6].map((count) => count * hours),
];
/** A label, and the gap before the next one. */
const pixelsPerTick = 90;

/** Returns the distance from the left edge. It is negative for earlier times and beyond the width for later ones. */
export function xOf({ end, span, width }: TimeScale, time: number): number {
  return ((time - (end - span)) / span) * width;
}

export function timeAt({ end, span, width }: TimeScale, x: number): number {
  return end - span + (x / width) * span;
}

/** Returns the span after zooming, within the limits. */
export function zoomed(span: number, factor: number): number {
  return Math.min(longestSpan, Math.max(shortestSpan, span * factor));
}

/** Returns round local times whose labels do not overlap. */
export function ticksOf(scale: TimeScale): readonly Tick[] {
  const { end, span, width } = scale;
  const atMost = Math.max(1, Math.floor(width / pixelsPerTick));
  const step = steps.find((each) => span / each <= atMost) ?? steps.at(-1)!;
  const ticks: Tick[] = [];
  // Whole hours are those of the local time zone, which may differ from UTC by parts of an hour.
  const offset = new Date(end).getTimezoneOffset() * minutes;
  for (let time = Math.ceil((end - span - offset) / step) * step + offset; time <= end; time += step)
    ticks.push({ time, label: step < minutes ? clockTime(time) : clockTime(time).slice(0, 5) });
  return ticks;
}

/** Returns the local time as `15:04:05`. */
export function clockTime(time: number): string {
  const date = new Date(time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}
