import type { Deadlock } from './gang-history.ts';
import type { Story } from './story.ts';

/** How a scenario ends: its pods and Jobs finished, it made no progress, its time expired, or the user interrupted it. */
export type ScenarioEnd =
  | { readonly kind: 'finished' }
  | { readonly kind: 'deadlock'; readonly deadlock: Deadlock }
  /** Nothing has changed for a while, and no further change is expected. */
  | { readonly kind: 'quiet' }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'interrupted' };

export interface ScenarioInput {
  readonly story: Story;
  readonly nowMs: number;
  /** When the last manifest was applied. */
  readonly appliedMs: number;
  /** Keys of the pods and Jobs in the manifests. */
  readonly pods: readonly string[];
  readonly jobs: readonly string[];
  readonly timeoutMs: number;
}

/** Returns how the scenario ended; undefined while it runs. Deleted pods and Jobs count as finished. */
export function scenarioEnd({
  story,
  nowMs,
  appliedMs,
  pods,
  jobs,
  timeoutMs,
}: ScenarioInput): ScenarioEnd | undefined {
  const isOver = pods.every((key) => story.isOver(key)) && jobs.every((key) => story.isJobOver(key));
  if (pods.length + jobs.length > 0 && isOver) return { kind: 'finished' };
  const deadlock = story.deadlock(nowMs);
  if (deadlock !== undefined) return { kind: 'deadlock', deadlock };
  if (story.isQuiet(nowMs, appliedMs)) return { kind: 'quiet' };
  return nowMs >= timeoutMs ? { kind: 'timeout' } : undefined;
}
