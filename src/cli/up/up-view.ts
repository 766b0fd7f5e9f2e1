import type { StoryEvent } from './story.ts';

/** How `tutti up` shows what happens. */
export interface UpView {
  /** Log lines of the processes go here, so that they do not spoil what is drawn. */
  readonly log: NodeJS.WritableStream;
  /** Lines that are said once. */
  say(lines: readonly string[]): void;
  notify(events: readonly StoryEvent[]): void;
  /** Called several times a second. */
  refresh(nowMs: number): void;
  /** The scenario is over, and the plane stays: what came of it, and what can be done now. Called at most once. */
  conclude(lines: readonly string[]): void;
  /** Leaves the terminal as it was; nothing is shown any more. Idempotent. */
  close(): void;
}
