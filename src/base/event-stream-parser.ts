/** An event of a stream of Server-Sent Events. */
export interface StreamEvent {
  /** `message` unless the stream names another. */
  readonly type: string;
  readonly data: string;
}

/**
 * Parses the text of a stream of Server-Sent Events, piece by piece. Ids are not kept: a message of the timeline contains what its id is made of.
 * Comments and events without data are dropped.
 */
export class EventStreamParser {
  /** Characters after the last complete line. */
  #rest = '';
  #type = '';
  #data: string[] = [];

  /** Returns the events that this piece completes. */
  push(piece: string): readonly StreamEvent[] {
    const lines = (this.#rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop()!;
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
    return isEvent ? event : undefined;
  }
}
