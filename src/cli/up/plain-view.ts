import type { OutputStream } from '../command-context.ts';
import { eventLine, formatEventLine, minGroupWidth } from './event-line.ts';
import type { StoryEvent } from './story.ts';
import type { UpView } from './up-view.ts';

/** Prints one line per event, for pipes, files and continuous integration. */
export class PlainView implements UpView {
  readonly log: NodeJS.WritableStream;
  readonly #output: OutputStream;
  #groupWidth = minGroupWidth;

  constructor(output: OutputStream, log: NodeJS.WritableStream) {
    this.#output = output;
    this.log = log;
  }

  print(lines: readonly string[]): void {
    this.#output.write(lines.map((line) => `${line}\n`).join(''));
  }

  notify(events: readonly StoryEvent[]): void {
    const lines = events.map(eventLine);
    // Printed lines cannot change: a longer name widens the column for all later lines.
    for (const { group } of lines) this.#groupWidth = Math.max(this.#groupWidth, group.length);
    this.print(lines.map((line) => formatEventLine(line, this.#groupWidth)));
  }

  refresh(): void {
    // This view prints events only.
  }

  conclude(lines: readonly string[]): void {
    this.print(['', ...lines]);
  }

  close(): void {
    // This view does not change the terminal.
  }
}
