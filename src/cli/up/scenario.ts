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
  /** Keys of the pods that the manifests made. */
  readonly pods: readonly string[];
  readonly timeoutMs: number;
}

/** Whether the scenario has ended by now; undefined while it goes on. Pods that were deleted count as finished. */
export function scenarioEnd({ story, nowMs, appliedMs, pods, timeoutMs }: ScenarioInput): ScenarioEnd | undefined {
  if (pods.length > 0 && pods.every((key) => story.isOver(key))) return { kind: 'finished' };
  const deadlock = story.deadlock(nowMs);
  if (deadlock !== undefined) return { kind: 'deadlock', deadlock };
  if (story.isQuiet(nowMs, appliedMs)) return { kind: 'quiet' };
  return nowMs >= timeoutMs ? { kind: 'timeout' } : undefined;
}
