/** An event of a stream of Server-Sent Events. */
export interface StreamEvent {
  /** `message` unless the stream names another. */
  readonly type: string;
  readonly data: string;
}

/** Maximum length of an event, in characters. A server that sends a longer one is broken. */
const maxEventLength = 128 * 2 ** 20;

/**
 * Parses the text of a stream of Server-Sent Events, piece by piece. Ids are not kept: a message of the timeline contains what its id is made of.
 * Comments and events without data are dropped.
 */
export class EventStreamParser {
  readonly #maxLength: number;
  /** Pieces after the last complete line. */
  #rest: string[] = [];
  #type = '';
  #data: string[] = [];
  /** Number of characters since the last event. */
  #length = 0;

  constructor(maxLength = maxEventLength) {
    this.#maxLength = maxLength;
  }

  /** Returns the events that this piece completes. Throws if an event becomes too long. */
  push(piece: string): readonly StreamEvent[] {
    this.#length += piece.length;
    if (this.#length > this.#maxLength) throw new Error('the server sends an event without an end');
    const mayEndLine = this.#rest.at(-1)?.endsWith('\r') === true || /[\r\n]/.test(piece);
    this.#rest.push(piece);
    // Joined once for each line: a long one comes in many pieces.
    if (!mayEndLine) return [];
    const lines = this.#rest.join('').split(/\r\n|\n|\r(?!$)/);
    this.#rest = [lines.pop()!];
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line: string): StreamEvent | undefined {
    if (line === '') return this.#dispatch();
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === 'event') this.#type = value;
    else if (field === 'data') this.#data.push(value);
    return undefined;
  }

  #dispatch(): StreamEvent | undefined {
    const event = { type: this.#type || 'message', data: this.#data.join('\n') };
    const isEvent = this.#data.length > 0;
    this.#type = '';
    this.#data = [];
    this.#length = 0;
    return isEvent ? event : undefined;
  }
}
