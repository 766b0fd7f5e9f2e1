import { emptyTimeline, withMessage } from '../api/timeline/client-timeline.ts';
import type { ClientTimeline } from '../api/timeline/client-timeline.ts';
import { formatEventId } from '../api/timeline/event-id.ts';
import type { TimelineMessage } from '../api/timeline/timeline-message.ts';
import { EventStreamParser } from './event-stream-parser.ts';

/** `lost`: the timeline stays as it was. The client tries again by itself. */
export type Connection =
  { readonly kind: 'connecting' } | { readonly kind: 'live' } | { readonly kind: 'lost'; readonly why: string };

/** What a page knows, and when it got to know it. */
export interface Received {
  readonly timeline: ClientTimeline;
  readonly connection: Connection;
  /** Of the monotonic clock, in milliseconds: when the last message came. */
  readonly receivedAt: number;
}

export interface TimelineClientOptions {
  readonly url: string;
  readonly fetch: typeof fetch;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
  readonly random: () => number;
  readonly onChange: (received: Received) => void;
}

const firstDelayMs = 500;
const longestDelayMs = 10_000;
/** The server sends a comment every 15 seconds when nothing changes. */
const silenceMs = 40_000;

/** The server refuses the stream, and says why. */
class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** Follows /debug/events. Reconnects with Last-Event-ID, so that it loses and doubles no transition. */
export class TimelineClient {
  readonly #options: TimelineClientOptions;
  #received: Received = { timeline: emptyTimeline, connection: { kind: 'connecting' }, receivedAt: 0 };
  #failures = 0;

  constructor(options: TimelineClientOptions) {
    this.#options = options;
  }

  /** Never returns. */
  async run(): Promise<never> {
    for (;;) {
      let why = 'the scheduler has closed the connection';
      try {
        await this.#follow();
      } catch (error) {
        why = error instanceof RefusedError ? error.message : 'the scheduler does not answer';
      }
      this.#update({ connection: { kind: 'lost', why } });
      const delay = Math.min(longestDelayMs, firstDelayMs * 2 ** this.#failures++);
      await new Promise((resolve) => setTimeout(resolve, delay * (0.5 + this.#options.random() / 2)));
    }
  }

  /** Resolves when the stream ends, or when changes are missing in it. */
  async #follow(): Promise<void> {
    const { url, fetch } = this.#options;
    const { epoch, sequence } = this.#received.timeline;
    const abort = new AbortController();
    let silence = setTimeout(() => abort.abort(), silenceMs);
    try {
      const response = await fetch(url, {
        headers: epoch === '' ? {} : { 'last-event-id': formatEventId({ epoch, sequence }) },
        cache: 'no-store',
        signal: abort.signal,
      });
      if (!response.ok || response.body === null) throw new RefusedError(await reasonOf(response));
      const parser = new EventStreamParser();
      const decoder = new TextDecoder();
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(() => abort.abort(), silenceMs);
        for (const { data } of parser.push(decoder.decode(value, { stream: true })))
          if (!this.#take(JSON.parse(data) as TimelineMessage)) return;
      }
    } finally {
      clearTimeout(silence);
      abort.abort();
    }
  }

  /** Returns false if changes are missing and the server will not send them by itself. */
  #take(message: TimelineMessage): boolean {
    const before = this.#received.timeline;
    const timeline = withMessage(before, message);
    if (timeline.status === 'outdated' && message.kind !== 'gap' && before.status === 'current') {
      this.#received = { ...this.#received, timeline };
      return false;
    }
    if (timeline.status === 'current') this.#failures = 0;
    this.#update({ timeline, connection: { kind: 'live' }, receivedAt: this.#options.now() });
    return true;
  }

  #update(changed: Partial<Received>): void {
    this.#received = { ...this.#received, ...changed };
    this.#options.onChange(this.#received);
  }
}

/** Returns the scheduler's time. The clock of this machine has no influence: only the time that has passed since a message counts. */
export function schedulerTime({ timeline, receivedAt }: Received, now: number): number {
  return timeline.now + (timeline.now === 0 ? 0 : Math.max(0, now - receivedAt));
}

async function reasonOf(response: Response): Promise<string> {
  const text = (await response.text()).trim();
  return text === '' || text.length > 300 ? `the server answered with ${response.status}` : text;
}
