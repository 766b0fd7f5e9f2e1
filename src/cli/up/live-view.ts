import type { Buffer } from 'node:buffer';
import { Writable } from 'node:stream';
import type { InputStream, OutputStream } from '../command-context.ts';
import { liveFrame } from './live-frame.ts';
import type { Story, StoryEvent } from './story.ts';
import { paintLine } from './styled-line.ts';
import { wrapToColumns } from './text-columns.ts';
import type { UpView } from './up-view.ts';

export interface LiveViewOptions {
  readonly output: OutputStream;
  readonly errors: OutputStream;
  /** Keys; undefined where nobody types. */
  readonly input?: InputStream | undefined;
  readonly hasColors: boolean;
  readonly story: Story;
  /** The user wants to end it, by a key. */
  readonly onQuit: () => void;
}

const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';
/** Terminals that know it draw what lies between in one go; the others pass over it. */
const beginUpdate = '\u001b[?2026h';
const endUpdate = '\u001b[?2026l';
const eraseToEndOfLine = '\u001b[K';
const eraseBelow = '\u001b[J';
const keptEvents = 50;
const keyHelp = 'q quit';

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
  readonly #onKeys = (keys: Buffer | string): void => {
    // Ctrl-C is a key like others where the terminal does not make a signal of it.
    if (/[q\u0003]/.test(String(keys))) this.#options.onQuit();
  };
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
    options.input?.setRawMode(true);
    options.input?.on('data', this.#onKeys);
  }

  say(lines: readonly string[]): void {
    this.#said.push(...lines);
    this.#above(() => this.#options.output.write(this.#broken(lines)));
  }

  notify(events: readonly StoryEvent[]): void {
    if (events.length > 0) this.#conclusion = [];
    this.#recent.push(...events);
    this.#recent.splice(0, this.#recent.length - keptEvents);
  }

  refresh(nowMs: number): void {
    this.#nowMs = nowMs;
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
    const { output, input } = this.#options;
    output.off('resize', this.#onResize);
    output.write(showCursor);
    if (input === undefined) return;
    input.off('data', this.#onKeys);
    input.setRawMode(false);
    input.pause();
  }

  /** Between words; what is one word, such as a path to be copied, is left to the terminal. */
  #broken(lines: readonly string[]): string {
    const { columns } = this.#size;
    const broken = lines.flatMap((line) => (/\S \S+ /.test(line) ? wrapToColumns(line, columns) : [line]));
    return broken.map((line) => `${line}\r\n`).join('');
  }

  /** Of the terminal; some say 0 when they do not know. */
  get #size(): { readonly columns: number; readonly rows: number } {
    const { columns = 0, rows = 0 } = this.#options.output;
    return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 };
  }

  #frame(): readonly string[] {
    const { input, hasColors, story } = this.#options;
    const { columns, rows } = this.#size;
    const lines = liveFrame({
      nowMs: this.#nowMs,
      story,
      recent: this.#recent,
      isOver: this.#isOver,
      conclusion: this.#conclusion,
      keys: input === undefined ? '' : keyHelp,
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
    this.#options.output.write(`\u001b[H\u001b[2J${this.#broken(this.#said)}`);
    this.#drawn = [];
    this.#draw(this.#frame());
  }
}

function upBy(lines: number): string {
  return lines === 0 ? '\r' : `\u001b[${lines}A\r`;
}
