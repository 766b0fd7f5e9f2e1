import type { Scenario } from './scenario.ts';

/** Covers back-off, a few calls and a repair. */
export const baseMs = 45_000;
/** Additional time per fault, because a process may first have to find out that nothing more will come. */
const more: readonly (readonly [RegExp, number])[] = [
  // The longest wait for an answer: a list, and two may be needed.
  [/^call\/(silent|late)/, 130_000],
  // Time until a silent watch is considered dead.
  [/^watch\/half-open/, 100_000],
];

/** Returns how long after the last fault the cluster must have settled, by the bounds in docs/guarantees.md. */
export function settlingMs({ scheduler, network }: Scenario, struck: ReadonlyMap<string, number>): number {
  let ms = baseMs;
  for (const [pattern, extraMs] of more) if ([...struck.keys()].some((name) => pattern.test(name))) ms += extraMs;
  if (scheduler.elects) ms += 30_000;
  if (!network.bookmarks) ms += 100_000;
  if (scheduler.qps < 10) ms += 30_000;
  return ms;
}
