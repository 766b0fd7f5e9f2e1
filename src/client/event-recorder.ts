import { toKubernetesMicroTime } from '../api/kubernetes-time.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { cutToBytes, maxNameLength, safeMessage } from '../base/safe-text.ts';
import { NotFoundError } from './api-errors.ts';
import type { KubeClient } from './kube-client.ts';

/** The object that an Event is about. */
export interface EventRegarding {
  readonly apiVersion: string;
  readonly kind: string;
  /** Absent for cluster-scoped objects; their Events go to the namespace default. */
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
}

export interface EventToRecord {
  readonly regarding: EventRegarding;
  readonly type: 'Normal' | 'Warning';
  /** Why, in CamelCase: `Scheduled`, `FailedScheduling`. At most 128 characters. */
  readonly reason: string;
  /** The action, in CamelCase: `Binding`, `Scheduling`. */
  readonly action: string;
  /**
   * The message for people. The recorder makes it safe to show and cuts it at 1024 bytes of UTF-8, the API's limit; text beyond the cut
   * does not distinguish two Events.
   */
  readonly note: string;
  /** The component that reports the Event: the pod's scheduler name. Default: that of the recorder. */
  readonly reportingController?: string;
  /** Other Events report the same: the recorder drops this one while many Events wait. */
  readonly isMinor?: boolean;
}

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, 'create' | 'patch'>;
  readonly clock: Clock;
  /** `tutti-scheduler`: the source of Events that do not set one. */
  readonly reportingController: string;
  /** Distinguishes the instances of one controller: the host or pod name. */
  readonly reportingInstance: string;
  /** Maximum number of waiting writes; beyond it the recorder drops the oldest. Default 10,000. */
  readonly queueLimit?: number;
  /** Maximum number of writes in flight. Default 4. */
  readonly concurrency?: number;
  /** How long a repeat counts towards the same Event, in milliseconds. Default 6 minutes, as in client-go. */
  readonly seriesWindowMs?: number;
  /** Called for each write that failed. The recorder never retries a failed write. */
  readonly onError?: (error: unknown) => void;
}

/**
 * State of a series:
 * - `waiting-to-create`, `waiting-to-patch`: in the queue; its write will include further repeats.
 * - `writing`: a write is in flight. `writing-behind`: repeats arrived since then; the series is queued again afterwards.
 * - `written`: the API server has everything.
 */
type SeriesState = 'waiting-to-create' | 'waiting-to-patch' | 'writing' | 'writing-behind' | 'written';

interface Series {
  readonly key: string;
  readonly event: EventToRecord;
  readonly namespace: string;
  readonly name: string;
  readonly firstSeen: number;
  count: number;
  lastSeen: number;
  lastSeenMonotonic: number;
  /** Monotonic time of the first occurrence that no write includes yet. */
  waitingSince: number;
  state: SeriesState;
}

/** The recorder drops minor Events while this many writes wait. */
const minorLimit = 200;
const noteLimitBytes = 1024;
const seriesLimit = 4096;

/**
 * Writes events.k8s.io/v1 Events in the event lane, a few at a time, started in order. A repeat (same object, reason, action and
 * note) within the window raises the count of the first Event's series; repeats that arrive faster than writes share one write.
 * Writes of one series never overlap: repeats that arrive during a write are queued when it ends. `record` never throws and never
 * waits: a lost Event affects nothing else.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #queueLimit: number;
  readonly #concurrency: number;
  readonly #windowMs: number;
  /** identity of the Event (regarding uid, type, reason, action, note) -> its series, by last occurrence */
  readonly #series = new Map<string, Series>();
  readonly #queue = new Set<Series>();
  readonly #stop = new AbortController();
  #names = 0;
  #dropped = 0;
  /** Number of writes in flight. */
  #writing = 0;
  /** Set while there are series. */
  #forgetting: Timer | undefined;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#queueLimit = options.queueLimit ?? 10_000;
    this.#concurrency = options.concurrency ?? 4;
    this.#windowMs = options.seriesWindowMs ?? 360_000;
  }

  /** Number of Events dropped because too many were waiting. */
  get dropped(): number {
    return this.#dropped;
  }

  record(given: EventToRecord): void {
    if (this.#stop.signal.aborted) return;
    const { clock } = this.#options;
    if (given.isMinor === true && this.#queue.size >= minorLimit) {
      this.#dropped++;
      return;
    }
    const event = { ...given, note: cutToBytes(safeMessage(given.note), noteLimitBytes) };
    const { regarding, type, reason, action, note } = event;
    const key = JSON.stringify([regarding.uid, type, reason, action, note]);
    const known = this.#series.get(key);
    this.#series.delete(key);
    const now = clock.monotonic();
    if (known !== undefined && now - known.lastSeenMonotonic <= this.#windowMs) {
      known.count++;
      known.lastSeen = clock.now();
      known.lastSeenMonotonic = now;
      this.#series.set(key, known);
      this.#repeated(known, now);
      return;
    }
    const series: Series = {
      key,
      event,
      namespace: regarding.namespace ?? 'default',
      name: this.#nextName(regarding.name),
      firstSeen: clock.now(),
      count: 1,
      lastSeen: clock.now(),
      lastSeenMonotonic: now,
      waitingSince: now,
      state: 'waiting-to-create',
    };
    this.#series.set(key, series);
    this.#forgetOldSeries();
    this.#enqueue(series);
  }

  /** Drops waiting writes and aborts those in flight; nothing is written afterwards. */
  stop(): void {
    this.#stop.abort(new Error('the event recorder has stopped'));
    this.#forgetting?.cancel();
    this.#queue.clear();
  }

  #repeated(series: Series, now: number): void {
    switch (series.state) {
      case 'written':
        series.state = 'waiting-to-patch';
        series.waitingSince = now;
        this.#enqueue(series);
        return;
      case 'writing':
        series.state = 'writing-behind';
        series.waitingSince = now;
        return;
      case 'waiting-to-create':
      case 'waiting-to-patch':
      case 'writing-behind':
        return;
    }
  }

  #enqueue(series: Series): void {
    this.#queue.add(series);
    this.#writeNext();
    if (this.#queue.size > this.#queueLimit) {
      const [oldest] = this.#queue;
      this.#queue.delete(oldest!);
      this.#forget(oldest!);
      this.#dropped++;
    }
  }

  /** Starts as many writes as allowed. A write is always in flight while the queue is not empty. */
  #writeNext(): void {
    while (this.#writing < this.#concurrency) {
      const [next] = this.#queue;
      if (next === undefined) return;
      this.#queue.delete(next);
      this.#writing++;
      void this.#writeOne(next);
    }
  }

  async #writeOne(series: Series): Promise<void> {
    const isRepeat = series.state === 'waiting-to-patch';
    series.state = 'writing';
    try {
      await this.#write(series, isRepeat);
    } catch (error) {
      // A repeat of a failed write is sent as a patch all the same: the API server may have the Event.
      if (!this.#isBehind(series)) this.#forget(series);
      if (!this.#stop.signal.aborted) this.#options.onError?.(error);
    }
    this.#writing--;
    if (this.#isBehind(series) && !this.#stop.signal.aborted) {
      series.state = 'waiting-to-patch';
      this.#enqueue(series);
      return;
    }
    series.state = 'written';
    this.#writeNext();
  }

  /** Returns whether repeats arrived during the write. */
  #isBehind({ state }: Series): boolean {
    return state === 'writing-behind';
  }

  async #write(series: Series, isRepeat: boolean): Promise<void> {
    const path = `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(series.namespace)}/events`;
    const options = {
      lane: 'event',
      heldSince: series.waitingSince,
      discardAnswer: true,
      signal: this.#stop.signal,
    } as const;
    if (!isRepeat) {
      await this.#options.client.create(path, this.#toWire(series), options);
      return;
    }
    try {
      const patch = { series: seriesToWire(series) };
      await this.#options.client.patch(`${path}/${encodeURIComponent(series.name)}`, 'merge', patch, options);
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      await this.#options.client.create(path, this.#toWire(series), options); // the Event has expired
    }
  }

  #toWire(series: Series): object {
    const { event } = series;
    return {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: series.name, namespace: series.namespace },
      eventTime: toKubernetesMicroTime(series.firstSeen),
      type: event.type,
      reason: event.reason.slice(0, 128),
      action: event.action.slice(0, 128),
      note: event.note,
      regarding: event.regarding,
      reportingController: event.reportingController ?? this.#options.reportingController,
      reportingInstance: this.#options.reportingInstance.slice(0, 128),
      ...(series.count > 1 ? { series: seriesToWire(series) } : {}),
    };
  }

  /** Returns a name as client-go builds it: the object's name, a dot, and hexadecimal digits unique to this Event. */
  #nextName(regardingName: string): string {
    const unique = BigInt(Math.trunc(this.#options.clock.now())) * 1_000_000n + BigInt(this.#names++ % 1_000_000);
    const suffix = `.${unique.toString(16)}`;
    return regardingName.slice(0, maxNameLength - suffix.length) + suffix;
  }

  #forget(series: Series): void {
    if (this.#series.get(series.key) === series) this.#series.delete(series.key);
  }

  #forgetOldSeries(): void {
    const now = this.#options.clock.monotonic();
    for (const [key, { lastSeenMonotonic }] of this.#series) {
      if (now - lastSeenMonotonic <= this.#windowMs && this.#series.size <= seriesLimit) break;
      this.#series.delete(key);
    }
    if (this.#series.size === 0 || this.#forgetting !== undefined) return;
    this.#forgetting = this.#options.clock.setTimer(this.#windowMs + 1, () => {
      this.#forgetting = undefined;
      this.#forgetOldSeries();
    });
  }
}

function seriesToWire(series: Series): object {
  return { count: series.count, lastObservedTime: toKubernetesMicroTime(series.lastSeen) };
}
