import type { Buffer } from 'node:buffer';
import { Writable } from 'node:stream';
import type { InputStream, OutputStream } from '../command-context.ts';
import { FilterKeys } from './filter-keys.ts';
import { liveFrame, wrappedLine } from './live-frame.ts';
import type { GangNow } from './gang-timeline.ts';
import type { Story, StoryEvent } from './story.ts';
import { paintLine } from './styled-line.ts';
import type { UpView } from './up-view.ts';

export interface LiveViewOptions {
  readonly output: OutputStream;
  readonly errors: OutputStream;
  /** Keyboard input; undefined without a keyboard. */
  readonly input?: InputStream | undefined;
  readonly hasColors: boolean;
  readonly story: Story;
  /** As in FrameInput. */
  readonly gang: (group: string) => GangNow | undefined;
  /** Called when the user presses a key that quits. */
  readonly onQuit: () => void;
}

const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';
/** Begin and end of a synchronized update, which terminals draw in one step. Other terminals ignore these codes. */
const beginUpdate = '\u001b[?2026h';
const endUpdate = '\u001b[?2026l';
const eraseToEndOfLine = '\u001b[K';
const eraseBelow = '\u001b[J';
/** Many more than a frame shows, so that a filter finds some. */
const maxRecentEvents = 1_000;

/**
 * Redraws a frame in place, below the printed lines. To avoid flicker, it overwrites only the lines that changed and never clears the
 * frame first. Printed lines and log lines scroll away above the frame.
 */
export class LiveView implements UpView {
  readonly log: NodeJS.WritableStream;
  readonly #options: LiveViewOptions;
  readonly #recent: StoryEvent[] = [];
  readonly #printed: string[] = [];
  #conclusion: readonly string[] = [];
  /** Lines of the frame on the screen. The cursor is at the start of the line below. */
  #drawn: readonly string[] = [];
  readonly #filter = new FilterKeys();
  #nowMs = 0;
  #isOver = false;
  #isClosed = false;
  readonly #onKeys = (keys: Buffer | string): void => {
    // In raw mode, the terminal sends Ctrl-C as a key, not as a signal.
    const text = String(keys);
    if (text.includes('\u0003')) this.#options.onQuit();
    else if (this.#filter.press(text)) this.#draw(this.#frame());
    else if (text.includes('q')) this.#options.onQuit();
  };
  readonly #onResize = (): void => this.#redrawAll();

  constructor(options: LiveViewOptions) {
    this.#options = options;
    const { output, errors } = options;
    this.log = new Writable({
      decodeStrings: false,
      write: (text: string, _encoding, done) => {
        this.#writeAbove(() => errors.write(text));
        done();
      },
    });
    output.write(hideCursor);
    output.on('resize', this.#onResize);
    options.input?.setRawMode(true);
    options.input?.on('data', this.#onKeys);
  }

  print(lines: readonly string[]): void {
    this.#printed.push(...lines);
    this.#writeAbove(() => this.#options.output.write(this.#wrapped(lines)));
  }

  notify(events: readonly StoryEvent[]): void {
    if (events.length > 0) this.#conclusion = [];
    this.#recent.push(...events);
    this.#recent.splice(0, this.#recent.length - maxRecentEvents);
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

  #wrapped(lines: readonly string[]): string {
    const { columns } = this.#size;
    return lines.flatMap((line) => wrappedLine(line, columns).map((part) => `${part}\r\n`)).join('');
  }

  /** Size of the terminal. Some terminals report 0 when they do not know their size. */
  get #size(): { readonly columns: number; readonly rows: number } {
    const { columns = 0, rows = 0 } = this.#options.output;
    return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 };
  }

  #frame(): readonly string[] {
    const { input, hasColors, story, gang } = this.#options;
    const { columns, rows } = this.#size;
    const lines = liveFrame({
      nowMs: this.#nowMs,
      story,
      gang,
      recent: this.#recent,
      isOver: this.#isOver,
      conclusion: this.#conclusion,
      filter: this.#filter.text,
      keys: input === undefined ? '' : this.#filter.help,
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

  /** Calls `write` with the cursor above the frame, then redraws the frame below. */
  #writeAbove(write: () => void): void {
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

  /** Clears the screen and redraws everything: after a resize, the terminal may have rewrapped lines and moved the frame. */
  #redrawAll(): void {
    this.#options.output.write(`\u001b[H\u001b[2J${this.#wrapped(this.#printed)}`);
    this.#drawn = [];
    this.#draw(this.#frame());
  }
}

function upBy(lines: number): string {
  return lines === 0 ? '\r' : `\u001b[${lines}A\r`;
}
