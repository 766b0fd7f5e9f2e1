import type { Scenario } from './scenario.ts';

/** Back-off, a few calls and a repair. */
export const baseMs = 45_000;
/** What comes on top, because somebody may have to find out first that nothing will come any more. */
const more: readonly (readonly [RegExp, number])[] = [
  // The longest that a call waits for its answer: a list, of which two may be needed.
  [/^call\/(silent|late)/, 130_000],
  // Until a watch on which nothing comes is taken for dead.
  [/^watch\/half-open/, 100_000],
];

/** How long after the last fault everything must have come to rest: the bounds that docs/guarantees.md states. */
export function settlingMs({ scheduler, network }: Scenario, struck: ReadonlyMap<string, number>): number {
  let ms = baseMs;
  for (const [pattern, extraMs] of more) if ([...struck.keys()].some((name) => pattern.test(name))) ms += extraMs;
  if (scheduler.elects) ms += 30_000;
  if (!network.bookmarks) ms += 100_000;
  if (scheduler.qps < 10) ms += 30_000;
  return ms;
}
