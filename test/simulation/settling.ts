import { longestAttemptMs } from './scenario.ts';
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

/** Faults and steps after which a process may learn of changes much later than usual. */
const delaying = /^(watch|call|outage)\/|^step\/(crash|pause|forget-history|end-watches)$/;
/** Time until a process has opened its watches again after one of them. */
const reconnectMs = 45_000;

/** Returns the longest time from a commit until the scheduler has received it and reads it. */
export function longestLagMs(scenario: Scenario, struck: ReadonlyMap<string, number>): number {
  const { network, scheduler } = scenario;
  const usual =
    2 * network.latencyMs + network.watchLagMs + (scheduler.workAtATime === undefined ? 0 : longestAttemptMs);
  const isDelayed = [...struck.keys()].some((name) => delaying.test(name));
  return isDelayed ? usual + reconnectMs + settlingMs(scenario, struck) - baseMs : usual;
}
