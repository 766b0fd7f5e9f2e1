import type { TimelineState } from '../../api/timeline/timeline-state.ts';
import { nothingReceived, schedulerTime } from '../../api/timeline/timeline-client.ts';
import type { Received } from '../../api/timeline/timeline-client.ts';
import { WaitingTimes } from '../../api/timeline/waiting-times.ts';
import type { WaitsFor } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';

/** A group as the scheduler sees it now. */
export interface GangNow {
  readonly state: TimelineState;
  /** Undefined: it does not wait for its quorum. */
  readonly wait: GangWait | undefined;
}

/** A group that waits for its quorum. */
export interface GangWait {
  readonly ms: number;
  readonly cause: WaitsFor | undefined;
  /** Number of its bound members. */
  readonly bound: number;
}

/** The groups in the timeline of the scheduler. It has none without a scheduler, or if the scheduler does not decide gangs. */
export class GangTimeline {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #received = nothingReceived;
  #waits = new WaitingTimes();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  take(received: Received): void {
    const { transitions } = received.timeline;
    if (transitions !== this.#received.timeline.transitions) {
      this.#waits = new WaitingTimes();
      for (const transition of transitions) this.#waits.add(transition);
    }
    this.#received = received;
  }

  /** Returns undefined if the timeline does not have the group. `group`: its key. */
  of(group: string): GangNow | undefined {
    const key = `gang/${group}`;
    const entity = this.#received.timeline.entities.get(key);
    if (entity === undefined || entity.state === 'Gone') return undefined;
    const { state, waitsFor: cause, counts } = entity;
    const since = this.#waits.since(key);
    if (since === undefined) return { state, wait: undefined };
    const ms = schedulerTime(this.#received, this.#clock.monotonic()) - since;
    return { state, wait: { ms, cause, bound: counts?.bound ?? 0 } };
  }
}
