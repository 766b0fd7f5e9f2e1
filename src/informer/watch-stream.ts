import type { Clock, Timer } from '../base/clock.ts';
import { ApiError } from '../client/api-errors.ts';
import { connectionFailure } from '../client/connection-failure.ts';
import type { KubeClient } from '../client/kube-client.ts';
import { errorFromStatus } from '../client/parse-status.ts';
import { LineSplitter, LineTooLongError } from './line-splitter.ts';

/** One watch event, parsed but not checked. */
export interface WatchEvent {
  readonly type?: unknown;
  readonly object?: { readonly metadata?: { readonly resourceVersion?: unknown } | null } | null;
}

export interface WatchStreamOptions {
  readonly client: Pick<KubeClient, 'watch'>;
  readonly clock: Clock;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Time without data after which the connection counts as dead, in milliseconds. */
  readonly deadManMs: number;
  /** Time after which the server promised to end the watch, in milliseconds. Half a minute later the client ends it. */
  readonly lifeMs: number;
}

/** The watch was silent for so long that the connection must be dead (half-open). */
export class WatchSilentError extends Error {
  override readonly name = 'WatchSilentError';
}

/** The watch sent a line that is not JSON, or ended in the middle of a line. */
export class WatchMalformedError extends Error {
  override readonly name = 'WatchMalformedError';
}

/** The watch cannot continue, from this resourceVersion or at all: the collection must be listed. */
export class WatchLostError extends Error {
  override readonly name = 'WatchLostError';
}

const overdueMs = 30_000;
const maxQuotedLength = 200;

/** One watch request, from start to end. */
export class WatchStream {
  readonly #options: WatchStreamOptions;

  constructor(options: WatchStreamOptions) {
    this.#options = options;
  }

  /**
   * Passes on each event in order. Resolves when the watch ended normally (by the server, or because it is overdue). Rejects with
   * an ApiError (an HTTP error or an ERROR event), a ConnectionError, WatchSilentError, WatchMalformedError or WatchLostError,
   * and with the errors of `onEvent`.
   */
  async run(signal: AbortSignal, onEvent: (event: WatchEvent) => void): Promise<void> {
    const { client, clock, path, query, deadManMs, lifeMs } = this.#options;
    signal.throwIfAborted(); // an aborted signal does not call new listeners
    const controller = new AbortController();
    const onStop = (): void => controller.abort(signal.reason);
    signal.addEventListener('abort', onStop, { once: true });
    let isOverdue = false;
    const life = clock.setTimer(lifeMs + overdueMs, () => {
      isOverdue = true;
      controller.abort(new Error('the watch is overdue'));
    });
    let lastActivity = clock.monotonic();
    // One timer that checks the last activity, instead of a new timer for every chunk.
    const listen = (delayMs: number): Timer =>
      clock.setTimer(delayMs, () => {
        const silentMs = clock.monotonic() - lastActivity;
        if (silentMs < deadManMs) deadMan = listen(deadManMs - silentMs);
        else controller.abort(new WatchSilentError(`GET ${path}: the watch was silent for ${silentMs} ms`));
      });
    let deadMan = listen(deadManMs);
    const splitter = new LineSplitter();
    try {
      const body = await client.watch(path, query, controller.signal);
      for await (const chunk of body) {
        lastActivity = clock.monotonic();
        splitter.push(chunk, (line) => this.#onLine(line, onEvent));
      }
      if (splitter.pendingBytes > 0) {
        throw new WatchMalformedError(`GET ${path}: the watch ended in the middle of a line`);
      }
    } catch (error) {
      if (isOverdue) return;
      throw controller.signal.aborted ? controller.signal.reason : this.#typed(error);
    } finally {
      life.cancel();
      deadMan.cancel();
      signal.removeEventListener('abort', onStop);
    }
  }

  #onLine(line: string, onEvent: (event: WatchEvent) => void): void {
    let event: WatchEvent | null;
    try {
      event = JSON.parse(line) as WatchEvent | null;
    } catch (cause) {
      const quoted = line.slice(0, maxQuotedLength);
      throw new WatchMalformedError(`GET ${this.#options.path}: a line is not JSON: ${quoted}`, { cause });
    }
    if (typeof event !== 'object' || event === null) {
      throw new WatchMalformedError(
        `GET ${this.#options.path}: a line is not an object: ${line.slice(0, maxQuotedLength)}`,
      );
    }
    if (event.type === 'ERROR') throw errorFromStatus(`GET ${this.#options.path} (watch)`, event.object);
    onEvent(event);
  }

  #typed(error: unknown): unknown {
    if (error instanceof ApiError || error instanceof WatchMalformedError || error instanceof WatchLostError)
      return error;
    if (error instanceof LineTooLongError) {
      // The same line would come again from the same resourceVersion.
      return new WatchLostError(`GET ${this.#options.path}: ${error.message}`, { cause: error });
    }
    return connectionFailure('GET', this.#options.path, error);
  }
}
