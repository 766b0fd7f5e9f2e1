import type { Deadlock } from './gang-history.ts';
import type { Story } from './story.ts';

/** How a scenario ends: everything it made has finished, or it stands still, or somebody has had enough. */
export type ScenarioEnd =
  | { readonly kind: 'finished' }
  | { readonly kind: 'deadlock'; readonly deadlock: Deadlock }
  /** Nothing has changed for a while, and nothing will by itself. */
  | { readonly kind: 'quiet' }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'interrupted' };

export interface ScenarioInput {
  readonly story: Story;
  readonly nowMs: number;
  /** When the last manifest was applied. */
  readonly appliedMs: number;
  /** Keys of the pods that the manifests made, and of the Jobs. */
  readonly pods: readonly string[];
  readonly jobs: readonly string[];
  readonly timeoutMs: number;
}

/** Whether the scenario has ended by now; undefined while it goes on. What was deleted counts as finished. */
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
