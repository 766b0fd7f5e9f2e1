import type { EventId } from '../../api/timeline/event-id.ts';
import type { GapReason } from '../../api/timeline/timeline-message.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import type { StreamClient, StreamEvents } from '../route.ts';
import { eventText, snapshotEventPieces } from './event-text.ts';

export interface TimelineClientsOptions {
  readonly scheduler: Pick<Scheduler, 'state'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Maximum number of clients. */
const maxClients = 8;
/** Changes of this time are one message. */
const mergeMs = 250;
/** A client then has to connect again, with permissions that it has by then. */
const maxStreamMs = 30 * 60_000;
/** How long a snapshot is written before other tasks get a turn. */
const sliceMs = 5;

/** What a client gets next. */
interface Wanted {
  /** Sent before the snapshot. */
  readonly gap?: GapReason;
  /** The client resumes there, if that is still possible. */
  readonly after?: EventId;
}

interface Follower {
  readonly client: StreamClient;
  readonly end: Timer;
  /** Set until its snapshot is sent. Deltas made meanwhile are sent with it. */
  wanted: Wanted | undefined;
  /** Deltas since its snapshot was begun. */
  backlog: string[];
}

/**
 * The clients of the timeline. Each gets a snapshot, or what has changed since it was here before, and then the same deltas as all others. A client
 * that is too slow gets a gap and another snapshot. Without clients, nothing runs.
 */
export class TimelineClients {
  readonly #options: TimelineClientsOptions;
  readonly #followers = new Set<Follower>();
  #timer: Timer | undefined;
  #isWriting = false;

  constructor(options: TimelineClientsOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#followers.size >= maxClients;
  }

  /** `last`: up to where the client has received the timeline before. */
  add(client: StreamClient, last: EventId | undefined): StreamEvents {
    // Others may have connected since the request was accepted.
    if (this.isFull) {
      client.end();
      return { closed: () => undefined, lagged: () => undefined };
    }
    const end = this.#options.clock.setTimer(maxStreamMs, () => client.end());
    const wanted: Wanted = last === undefined ? {} : { after: last };
    const follower: Follower = { client, end, wanted, backlog: [] };
    if (this.#followers.size === 0) this.#feed.start();
    this.#followers.add(follower);
    this.#timer ??= this.#options.clock.setTimer(mergeMs, () => this.#tick());
    this.#writeSnapshots();
    return {
      closed: () => this.#remove(follower),
      lagged: () => this.#want(follower, { gap: 'SlowClient' }),
    };
  }

  get #feed(): Scheduler['state']['timeline'] {
    return this.#options.scheduler.state.timeline;
  }

  #remove(follower: Follower): void {
    this.#followers.delete(follower);
    follower.end.cancel();
    if (this.#followers.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#feed.stop();
  }

  #tick(): void {
    this.#timer = this.#options.clock.setTimer(mergeMs, () => this.#tick());
    try {
      this.#sendChanges();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** The scheduler goes on without the clients. They connect again. */
  #failed(error: unknown): void {
    this.#options.logger.error('serving the timeline failed', { error });
    for (const { client } of this.#followers) client.end();
  }

  /** Sends what has changed since the last time. */
  #sendChanges(): void {
    const feed = this.#feed;
    if (feed.epoch !== feed.last.epoch) {
      feed.restart();
      for (const follower of this.#followers) this.#want(follower, { gap: 'NewLeader' });
      return;
    }
    const delta = feed.delta();
    if (delta === undefined) return;
    const text = eventText(delta);
    for (const { client, wanted, backlog } of this.#followers) {
      if (wanted === undefined) client.send(text);
      else backlog.push(text);
    }
  }

  #want(follower: Follower, wanted: Wanted): void {
    follower.wanted = wanted;
    follower.backlog = [];
    this.#writeSnapshots();
  }

  /** Writes one snapshot after the other. */
  #writeSnapshots(): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    this.#writeAll().catch((error: unknown) => this.#failed(error));
  }

  async #writeAll(): Promise<void> {
    try {
      for (let next = this.#next(); next !== undefined; next = this.#next()) await this.#writeFor(next);
    } finally {
      this.#isWriting = false;
    }
  }

  #next(): Follower | undefined {
    for (const follower of this.#followers) if (follower.wanted !== undefined) return follower;
    return undefined;
  }

  async #writeFor(follower: Follower): Promise<void> {
    // The snapshot continues exactly what other clients have received, so all go on with the same deltas.
    this.#sendChanges();
    const { wanted } = follower;
    if (wanted === undefined) return;
    const feed = this.#feed;
    const { epoch } = feed;
    follower.backlog = [];
    const canResume = wanted.after !== undefined && feed.holds(wanted.after);
    const gap = wanted.gap ?? (wanted.after === undefined || canResume ? undefined : gapOf(wanted.after, epoch));
    const pieces =
      gap === undefined ? [] : [eventText({ kind: 'gap', reason: gap, epoch, now: this.#options.clock.now() })];
    let until = performance.now() + sliceMs;
    for (const piece of snapshotEventPieces(feed.snapshot(canResume ? wanted.after.sequence : undefined))) {
      pieces.push(piece);
      if (performance.now() < until) continue;
      await new Promise((resolve) => setImmediate(resolve));
      until = performance.now() + sliceMs;
      // The client has gone, or it wants something else by now.
      if (!this.#followers.has(follower) || follower.wanted !== wanted) return;
    }
    follower.wanted = undefined;
    // As one text, behind which more may wait than a snapshot leaves room for.
    follower.client.send([...pieces, ...follower.backlog].join(''));
    follower.backlog = [];
  }
}

function gapOf({ epoch }: EventId, current: string): GapReason {
  return epoch === current ? 'TooOld' : 'NewLeader';
}
