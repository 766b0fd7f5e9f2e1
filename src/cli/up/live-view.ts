import type { Buffer } from 'node:buffer';
import { Writable } from 'node:stream';
import type { InputStream, OutputStream } from '../command-context.ts';
import { printable } from './event-line.ts';
import { liveFrame } from './live-frame.ts';
import type { GroupSelection } from './live-frame.ts';
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
/** Groups passed over by one press of page down. */
const page = 10;
const keyHelp = '↑ ↓ scroll   / filter   q quit';

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
  #selection: GroupSelection = { offset: 0, filter: '' };
  /** What is typed belongs to the filter. */
  #isTyping = false;
  readonly #onKeys = (keys: Buffer | string): void => this.#pressed(String(keys).match(keyPattern) ?? []);
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

  /** Fast typing, and what is pasted, comes as several at once. */
  #pressed(keys: readonly string[]): void {
    for (const key of keys) {
      if (key === '\u0003' || (key === 'q' && !this.#isTyping)) {
        this.#options.onQuit();
        return;
      }
      if (this.#isTyping) this.#typed(key);
      else if (key === '/') this.#isTyping = true;
      else if (key === '\u001b') this.#selection = { offset: 0, filter: '' };
      else this.#scroll(steps.get(key) ?? 0);
    }
    this.#draw(this.#frame());
  }

  #scroll(by: number): void {
    const last = Math.max(0, this.#options.story.history.groups().length - 1);
    this.#selection = { ...this.#selection, offset: Math.min(last, Math.max(0, this.#selection.offset + by)) };
  }

  #typed(key: string): void {
    const { filter } = this.#selection;
    if (key === '\r' || key === '\n') this.#isTyping = false;
    else if (key === '\u001b') {
      this.#isTyping = false;
      this.#selection = { offset: 0, filter: '' };
    } else if (key === '\u007f' || key === '\b') {
      this.#selection = { offset: 0, filter: [...filter].slice(0, -1).join('') };
    } else if (!key.startsWith('\u001b')) this.#selection = { offset: 0, filter: filter + printable(key) };
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
      selection: this.#selection,
      keys:
        input === undefined
          ? ''
          : this.#isTyping
            ? `filter: ${this.#selection.filter}▏   Enter keeps it, Esc shows all`
            : keyHelp,
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

/** A key that moves something, or a character. */
// eslint-disable-next-line no-control-regex -- what terminals send for such keys begins with escape
const keyPattern = /\u001b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])?|[^]/gu;

/** Key -> how many groups it goes on */
const steps: ReadonlyMap<string, number> = new Map([
  ['\u001b[A', -1],
  ['\u001bOA', -1],
  ['k', -1],
  ['\u001b[B', 1],
  ['\u001bOB', 1],
  ['j', 1],
  ['\u001b[5~', -page],
  ['\u001b[6~', page],
]);

function upBy(lines: number): string {
  return lines === 0 ? '\r' : `\u001b[${lines}A\r`;
}
