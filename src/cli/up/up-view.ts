import type { StoryEvent } from './story.ts';

/** Displays the events of `tutti up`. */
export interface UpView {
  /** Receives the log lines of the processes, so that they do not corrupt the display. */
  readonly log: NodeJS.WritableStream;
  /** Prints lines once. */
  print(lines: readonly string[]): void;
  notify(events: readonly StoryEvent[]): void;
  /** Called several times a second. */
  refresh(nowMs: number): void;
  /** Shows the result and what to do next once the scenario has ended and the control plane keeps running. Called at most once. */
  conclude(lines: readonly string[]): void;
  /** Restores the terminal and stops drawing. Idempotent. */
  close(): void;
}
