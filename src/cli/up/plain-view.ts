import type { OutputStream } from '../command-context.ts';
import { eventLine, formatEventLine, leastGroupWidth } from './event-line.ts';
import type { StoryEvent } from './story.ts';
import type { UpView } from './up-view.ts';

/** One line a change: for pipes, files and continuous integration. */
export class PlainView implements UpView {
  readonly log: NodeJS.WritableStream;
  readonly #output: OutputStream;
  #groupWidth = leastGroupWidth;

  constructor(output: OutputStream, log: NodeJS.WritableStream) {
    this.#output = output;
    this.log = log;
  }

  say(lines: readonly string[]): void {
    this.#output.write(lines.map((line) => `${line}\n`).join(''));
  }

  notify(events: readonly StoryEvent[]): void {
    const lines = events.map(eventLine);
    // Lines that are out cannot be set anew: the column grows when a longer name comes, and stays so.
    for (const { group } of lines) this.#groupWidth = Math.max(this.#groupWidth, group.length);
    this.say(lines.map((line) => formatEventLine(line, this.#groupWidth)));
  }

  refresh(): void {
    // Only what changes is told.
  }

  conclude(lines: readonly string[]): void {
    this.say(['', ...lines]);
  }

  close(): void {
    // Nothing was taken from the terminal.
  }
}
