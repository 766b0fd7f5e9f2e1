import type { Clock, Timer } from '../../base/clock.ts';
import { Heap } from '../../base/heap.ts';
import { onlyGatesAreShut } from '../../cluster/gang.ts';
import type { GangView } from '../../cluster/gang.ts';
import type { Status } from '../../framework/status.ts';
import type { EntityKey, QueuedEntity } from '../../queue/queued-entity.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import type { Profiles } from '../profiles.ts';
import type { Verdicts } from './verdicts.ts';

/** A group that has not changed for so long is told; most become ready sooner, and then nothing needs to be written. */
const quietMs = 1_000;
/** A group that keeps changing is told after so long all the same. */
const latestMs = 5_000;

/** A gated group that has not been told of what it waits for now. Times are monotonic. */
interface Untold {
  readonly entity: QueuedEntity;
  /** When the group is told even if it keeps changing. */
  readonly latest: number;
  reason: string;
  /** Members that would be told. */
  pending: number;
  changedAt: number;
  /** When the timer looks at it next: never later than it is due. */
  lookAt: number;
}

/**
 * Tells the members of groups that are not ready what they wait for: each group by itself, when it has not changed for a while.
 * Lone pods behind scheduling gates say so themselves.
 */
export class NotReadyVerdicts {
  readonly #queue: Pick<SchedulingQueue, 'get'>;
  readonly #verdicts: Pick<Verdicts, 'report'>;
  readonly #clock: Clock;
  readonly #profiles: Pick<Profiles, 'decidesGangs'>;
  /** entity -> what is known of it until it is told; one that is no longer gated goes when it is looked at */
  readonly #untold = new Map<EntityKey, Untold>();
  readonly #byTime = new Heap<Untold>((a, b) => a.lookAt - b.lookAt);
  #timer: Timer | undefined;

  constructor(options: {
    readonly queue: Pick<SchedulingQueue, 'get'>;
    readonly verdicts: Pick<Verdicts, 'report'>;
    readonly clock: Clock;
    readonly profiles: Pick<Profiles, 'decidesGangs'>;
  }) {
    this.#queue = options.queue;
    this.#verdicts = options.verdicts;
    this.#clock = options.clock;
    this.#profiles = options.profiles;
  }

  /**
   * PreEnqueue has rejected the entity; must be told at each change of it, as the queue's observer is. Only a change of the
   * reason, or of how many members there are to tell, puts the verdict off.
   */
  gated(entity: QueuedEntity, { message: reason }: Status): void {
    if (entity.schedulingEntity.kind !== 'gang') return;
    const now = this.#clock.monotonic();
    const { size } = entity.schedulingEntity.gang.pending;
    const known = this.#untold.get(entity.key);
    if (known?.entity === entity) {
      if (known.reason === reason && known.pending === size) return;
      known.reason = reason;
      known.pending = size;
      known.changedAt = now;
      return;
    }
    const lookAt = now + quietMs;
    const untold = { entity, latest: now + latestMs, reason, pending: size, changedAt: now, lookAt };
    this.#untold.set(entity.key, untold);
    this.#byTime.push(untold);
    this.#setTimer();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** The timer that runs is never too late: what comes later, or changes, is looked at later. */
  #setTimer(): void {
    const next = this.#byTime.peek();
    if (this.#timer !== undefined || next === undefined) return;
    this.#timer = this.#clock.setTimer(next.lookAt - this.#clock.monotonic(), () => {
      this.#timer = undefined;
      this.#look();
      this.#setTimer();
    });
  }

  #look(): void {
    const now = this.#clock.monotonic();
    for (let next = this.#byTime.peek(); next !== undefined && next.lookAt <= now; next = this.#byTime.peek()) {
      this.#byTime.pop();
      const { entity } = next;
      if (this.#untold.get(entity.key) !== next) continue;
      const { schedulingEntity, state } = entity;
      const isGated = this.#queue.get(entity.key) === entity && state.kind === 'gated';
      const due = Math.min(next.changedAt + quietMs, next.latest);
      if (isGated && due > now) {
        next.lookAt = due;
        this.#byTime.push(next);
        continue;
      }
      this.#untold.delete(entity.key);
      if (isGated && schedulingEntity.kind === 'gang') this.#notify(schedulingEntity.gang, state.status);
    }
  }

  #notify(gang: GangView, { message }: Status): void {
    const ours = [...gang.pending.values()].filter((pod) => this.#profiles.decidesGangs(pod.schedulerName));
    const waitsFor = onlyGatesAreShut(gang) ? 'gates' : 'members';
    const cause = message.replaceAll(counts, '');
    this.#verdicts.report(ours, { reason: 'WaitingForGang', message: `${message}.`, waitsFor, cause }, gang);
  }
}

/** Numbers by themselves, not those in names. */
const counts = /(?<= )\d+(?=[ ,]|$)/g;
