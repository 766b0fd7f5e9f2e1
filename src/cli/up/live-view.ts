import { Writable } from 'node:stream';
import type { OutputStream } from '../command-context.ts';
import { liveFrame } from './live-frame.ts';
import type { DrawnNode } from './live-frame.ts';
import type { Story, StoryEvent } from './story.ts';
import { paintLine } from './styled-line.ts';
import type { UpView } from './up-view.ts';

export interface LiveViewOptions {
  readonly output: OutputStream;
  readonly errors: OutputStream;
  readonly hasColors: boolean;
  readonly nodes: readonly DrawnNode[];
  readonly story: Story;
}

const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';
/** Terminals that know it draw what lies between in one go; the others pass over it. */
const beginUpdate = '\u001b[?2026h';
const endUpdate = '\u001b[?2026l';
const eraseToEndOfLine = '\u001b[K';
const eraseBelow = '\u001b[J';
const keptEvents = 50;

/**
 * A picture that is redrawn in place, below what was said before. It is written over, line by line and only when it changed,
 * never cleared first, so that it does not flicker. Lines said, and log lines, scroll away above it.
 */
export class LiveView implements UpView {
  readonly log: NodeJS.WritableStream;
  readonly #options: LiveViewOptions;
  readonly #recent: StoryEvent[] = [];
  readonly #said: string[] = [];
  #conclusion: readonly string[] = [];
  /** What is on the screen; the cursor stands at the start of the line below. */
  #drawn: readonly string[] = [];
  #nowMs = 0;
  #isOver = false;
  #isClosed = false;
  readonly #onResize = (): void => this.#redrawAll();

  constructor(options: LiveViewOptions) {
    this.#options = options;
    const { output, errors } = options;
    this.log = new Writable({
      decodeStrings: false,
      write: (text: string, _encoding, done) => {
        this.#above(() => errors.write(text));
        done();
      },
    });
    output.write(hideCursor);
    output.on('resize', this.#onResize);
  }

  say(lines: readonly string[]): void {
    this.#said.push(...lines);
    this.#above(() => this.#options.output.write(lines.map((line) => `${line}\n`).join('')));
  }

  tell(events: readonly StoryEvent[]): void {
    this.#recent.push(...events);
    this.#recent.splice(0, this.#recent.length - keptEvents);
  }

  refresh(nowMs: number): void {
    // The time stands still when the scenario is over, so that a quiet plane writes nothing.
    if (!this.#isOver) this.#nowMs = nowMs;
    this.#draw(this.#frame());
  }

  conclude(lines: readonly string[]): void {
    this.#isOver = true;
    this.#conclusion = lines;
    this.#draw(this.#frame());
  }

  close(): void {
    if (this.#isClosed) return;
    this.#draw(this.#frame());
    this.#isClosed = true;
    this.#options.output.off('resize', this.#onResize);
    this.#options.output.write(showCursor);
  }

  #frame(): readonly string[] {
    const { output, hasColors, nodes, story } = this.#options;
    const { columns = 80, rows = 24 } = output;
    const lines = liveFrame({
      nowMs: this.#nowMs,
      nodes,
      story,
      recent: this.#recent,
      conclusion: this.#conclusion,
      columns,
      rows,
    });
    return lines.map((line) => paintLine(line, columns, hasColors));
  }

  #draw(lines: readonly string[]): void {
    if (this.#isClosed) return;
    const before = this.#drawn;
    if (lines.length === before.length && lines.every((line, index) => line === before[index])) return;
    const rewritten = lines.map((line, index) => (line === before[index] ? '' : `${line}${eraseToEndOfLine}`));
    this.#options.output.write(
      `${beginUpdate}${upBy(before.length)}${rewritten.map((line) => `${line}\r\n`).join('')}${eraseBelow}${endUpdate}`,
    );
    this.#drawn = lines;
  }

  /** Lets something be written above the picture. */
  #above(write: () => void): void {
    if (this.#isClosed) {
      write();
      return;
    }
    const { output } = this.#options;
    const lines = this.#drawn;
    output.write(`${upBy(lines.length)}${eraseBelow}`);
    this.#drawn = [];
    write();
    this.#draw(lines);
  }

  /** After the width changed, lines may have been broken anew, and nobody knows where the picture is. */
  #redrawAll(): void {
    this.#options.output.write(`\u001b[H\u001b[2J${this.#said.map((line) => `${line}\r\n`).join('')}`);
    this.#drawn = [];
    this.#draw(this.#frame());
  }
}

function upBy(lines: number): string {
  return lines === 0 ? '\r' : `\u001b[${lines}A\r`;
}
