import type { BackoffPolicy } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { DueTimes } from '../../base/due-times.ts';
import type { Random } from '../../base/random.ts';
import { FailureBackoff } from './failure-backoff.ts';
import type { Backoff } from './failure-backoff.ts';
import type { WorkQueueMetrics } from './work-queue-metrics.ts';

/** A failed key that will be processed again. */
export interface Retry extends Backoff {
  readonly key: string;
  readonly error: unknown;
}

export interface WorkQueueOptions {
  /** The `name` label of the metrics. */
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Maximum number of keys processed at once. */
  readonly workers: number;
  readonly backoff: BackoffPolicy;
  /** Processes one key. A rejection requeues the key after its backoff. `stop` aborts the signal. */
  readonly process: (key: string, signal: AbortSignal) => Promise<void>;
  readonly onRetry: (retry: Retry) => void;
  readonly metrics: WorkQueueMetrics;
}

/** Maximum remaining backoff after an addition: a change may fix the failure, and shows that the server responds. */
const backoffAfterAdditionMs = 1_000;

/**
 * State of a key that is due:
 * - ready: waits for a worker, since `sinceMs` (monotonic).
 * - processing: in progress; `againMs` is the delay until it is due again, if it was added in the meantime.
 */
type Entry =
  { readonly state: 'ready'; readonly sinceMs: number } | { readonly state: 'processing'; againMs: number | undefined };

/**
 * Keys that need work. A key is queued only once, even if it is added repeatedly, and only one worker processes it at a time. A
 * key that is added during its processing is processed again afterwards, so that no change is missed.
 *
 * If a waiting key is added again, the earlier time counts. A backoff is only shortened to one second, so that a frequently changing
 * key does not overload a failing server.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #stop = new AbortController();
  /** key -> its state; absent if it is not due */
  readonly #entries = new Map<string, Entry>();
  /** key that is not due yet -> whether the delay is a backoff */
  readonly #delayed: DueTimes<string, boolean>;
  /** Ready keys in order of arrival. */
  readonly #ready = new Set<string>();
  readonly #backoff: FailureBackoff;
  /** Work in progress. */
  readonly #work = new Set<Promise<void>>();
  #started = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#delayed = new DueTimes(options.clock, (key) => this.#makeReady(key));
    this.#backoff = new FailureBackoff({ policy: options.backoff, random: options.random });
    options.metrics.depth.set({ name: options.name }, 0);
  }

  /** Makes the key due in `delayMs`. Does nothing after `stop`. */
  add(key: string, delayMs = 0): void {
    if (this.#stop.signal.aborted) return;
    const entry = this.#entries.get(key);
    switch (entry?.state) {
      case undefined: {
        const hasFailed = this.#delayed.get(key) ?? false;
        const sooner = hasFailed ? Math.max(delayMs, backoffAfterAdditionMs) : delayMs;
        if (this.#options.clock.monotonic() + sooner < this.#delayed.dueAt(key)) this.#schedule(key, sooner, hasFailed);
        return;
      }
      case 'processing':
        entry.againMs = Math.min(entry.againMs ?? delayMs, delayMs);
        return;
      case 'ready':
        return;
    }
  }

  /** Starts the workers; keys may be added before. */
  start(): void {
    this.#started = true;
    this.#assign();
  }

  /** Stops the queue: no further key is started, and the signal aborts work in progress. Resolves when that has ended. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error(`the ${this.#options.name} queue has stopped`));
    this.#delayed.stop();
    this.#entries.clear();
    this.#ready.clear();
    this.#reportDepth();
    await Promise.all(this.#work);
  }

  #schedule(key: string, delayMs: number, failed: boolean): void {
    if (delayMs <= 0) {
      this.#delayed.delete(key);
      this.#makeReady(key);
      return;
    }
    this.#delayed.set(key, this.#options.clock.monotonic() + delayMs, failed);
  }

  #makeReady(key: string): void {
    const { clock, metrics, name } = this.#options;
    this.#entries.set(key, { state: 'ready', sinceMs: clock.monotonic() });
    this.#ready.add(key);
    metrics.adds.inc({ name });
    this.#reportDepth();
    this.#assign();
  }

  #assign(): void {
    if (!this.#started) return;
    for (const key of this.#ready) {
      if (this.#work.size >= this.#options.workers) return;
      this.#ready.delete(key);
      this.#reportDepth();
      const work = this.#process(key).finally(() => {
        this.#work.delete(work);
        this.#assign();
      });
      this.#work.add(work);
    }
  }

  async #process(key: string): Promise<void> {
    const { clock, metrics, name, process } = this.#options;
    const begun = clock.monotonic();
    const ready = this.#entries.get(key);
    if (ready?.state === 'ready') metrics.queueSeconds.observe({ name }, (begun - ready.sinceMs) / 1000);
    const entry: Entry = { state: 'processing', againMs: undefined };
    this.#entries.set(key, entry);
    let failure: { readonly error: unknown } | undefined;
    try {
      await process(key, this.#stop.signal);
    } catch (error) {
      failure = { error };
    }
    metrics.workSeconds.observe({ name }, (clock.monotonic() - begun) / 1000);
    if (this.#stop.signal.aborted) return;
    this.#entries.delete(key);
    if (failure === undefined) this.#backoff.succeeded(key);
    else this.#retry(key, failure.error);
    if (entry.againMs !== undefined) this.add(key, entry.againMs);
  }

  #retry(key: string, error: unknown): void {
    const { metrics, name, onRetry } = this.#options;
    const backoff = this.#backoff.failed(key);
    metrics.retries.inc({ name });
    this.#schedule(key, backoff.delayMs, true);
    onRetry({ key, error, ...backoff });
  }

  #reportDepth(): void {
    this.#options.metrics.depth.set({ name: this.#options.name }, this.#ready.size);
  }
}
