import type { Clock } from '../../base/clock.ts';
import { EventStreamParser } from '../../base/event-stream-parser.ts';
import type { Random } from '../../base/random.ts';
import { emptyTimeline, withMessage } from './client-timeline.ts';
import type { ClientTimeline } from './client-timeline.ts';
import { formatEventId } from './event-id.ts';
import { hasKnownForm } from './message-form.ts';
import type { TimelineMessage } from './timeline-message.ts';

/** `lost`: the timeline stays as it was. The client tries again by itself. */
export type Connection =
  { readonly kind: 'connecting' } | { readonly kind: 'live' } | { readonly kind: 'lost'; readonly why: string };

/** What a client knows, and when it got to know it. */
export interface Received {
  readonly timeline: ClientTimeline;
  readonly connection: Connection;
  /** Of the monotonic clock, in milliseconds: when the last message came. */
  readonly receivedAt: number;
}

export const nothingReceived: Received = {
  timeline: emptyTimeline,
  connection: { kind: 'connecting' },
  receivedAt: 0,
};

export interface TimelineClientOptions {
  /**
   * Opens /debug/events and resolves with the text of the stream, piece by piece. `lastEventId` is undefined if the client has nothing. Rejects with
   * RefusedError if the server refuses the stream.
   */
  readonly open: (lastEventId: string | undefined, signal: AbortSignal) => Promise<AsyncIterable<string>>;
  readonly clock: Pick<Clock, 'monotonic' | 'setTimer'>;
  readonly random: Random;
  /** What was received before. Default: nothing. */
  readonly timeline?: ClientTimeline;
  readonly onChange: (received: Received) => void;
}

const firstDelayMs = 500;
const longestDelayMs = 10_000;
/** After as many failures, the delay is the longest. */
const slowFailures = 5;
/** The server sends a comment every 15 seconds when nothing changes. */
const silenceMs = 40_000;

/** The server refuses the stream. The message says why. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** Why the connection is lost: see UnknownMessageError. */
export const unreadable = 'the scheduler has sent what this version cannot read';

/** The server has sent something that is no message, or has another form than this version knows. Connecting again may not help. */
class UnknownMessageError extends Error {
  override readonly name = 'UnknownMessageError';

  constructor() {
    super(unreadable);
  }
}

/** Follows /debug/events. Reconnects with Last-Event-ID, so that it loses and doubles no transition. */
export class TimelineClient {
  readonly #options: TimelineClientOptions;
  #received: Received;
  #failures = 0;

  constructor(options: TimelineClientOptions) {
    this.#options = options;
    const { timeline = emptyTimeline, clock } = options;
    this.#received = { ...nothingReceived, timeline, receivedAt: clock.monotonic() };
  }

  /** Follows the stream until the signal aborts, then resolves. */
  async run(signal?: AbortSignal): Promise<void> {
    const hasEnded = (): boolean => signal?.aborted === true;
    while (!hasEnded()) {
      let why = 'the scheduler has closed the connection';
      try {
        await this.#follow(signal);
      } catch (error) {
        const isExplained = error instanceof RefusedError || error instanceof UnknownMessageError;
        why = isExplained ? error.message : 'the scheduler does not answer';
        // The messages before may have been good each time.
        if (error instanceof UnknownMessageError) this.#failures = Math.max(this.#failures, slowFailures);
      }
      if (hasEnded()) return;
      this.#update({ connection: { kind: 'lost', why } });
      const delay = Math.min(longestDelayMs, firstDelayMs * 2 ** this.#failures++);
      await this.#pause(delay * (0.5 + this.#options.random() / 2), signal);
    }
  }

  #pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel();
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = this.#options.clock.setTimer(delayMs, end);
      signal?.addEventListener('abort', end);
    });
  }

  /** Resolves when the stream ends, or when changes are missing in it. */
  async #follow(signal: AbortSignal | undefined): Promise<void> {
    const { open, clock } = this.#options;
    const { epoch, sequence } = this.#received.timeline;
    const abort = new AbortController();
    const end = (): void => abort.abort();
    signal?.addEventListener('abort', end);
    let silence = clock.setTimer(silenceMs, end);
    try {
      const texts = await open(epoch === '' ? undefined : formatEventId({ epoch, sequence }), abort.signal);
      const parser = new EventStreamParser();
      for await (const text of texts) {
        silence.cancel();
        silence = clock.setTimer(silenceMs, end);
        for (const { data } of parser.push(text)) if (!this.#take(messageIn(data))) return;
      }
    } finally {
      silence.cancel();
      signal?.removeEventListener('abort', end);
      end();
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
    this.#update({ timeline, connection: { kind: 'live' }, receivedAt: this.#options.clock.monotonic() });
    return true;
  }

  #update(changed: Partial<Received>): void {
    this.#received = { ...this.#received, ...changed };
    this.#options.onChange(this.#received);
  }
}

function messageIn(data: string): TimelineMessage {
  let message: unknown;
  try {
    message = JSON.parse(data);
  } catch {
    throw new UnknownMessageError();
  }
  if (!hasKnownForm(message)) throw new UnknownMessageError();
  return message;
}

/** Returns the scheduler's time. The clock of this machine has no influence: only the time that has passed since a message counts. */
export function schedulerTime({ timeline, receivedAt }: Received, now: number): number {
  return timeline.now + (timeline.now === 0 ? 0 : Math.max(0, now - receivedAt));
}
