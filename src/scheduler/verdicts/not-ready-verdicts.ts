import type { Clock, Timer } from '../../base/clock.ts';
import { Heap } from '../../base/heap.ts';
import { onlyGatesAreShut } from '../../cluster/gang.ts';
import type { GangView } from '../../cluster/gang.ts';
import type { Status } from '../../framework/status.ts';
import type { EntityKey, QueuedEntity } from '../../queue/queued-entity.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import type { Profiles } from '../profiles.ts';
import type { Verdicts } from './verdicts.ts';

/** A group gets its verdict once it has not changed for this long. Most groups become ready sooner and need no verdict. */
const quietMs = 1_000;
/** A group that keeps changing gets its verdict after this long. */
const latestMs = 5_000;

/** A gated group whose current reason is not reported yet. Times are monotonic. */
interface PendingReport {
  readonly entity: QueuedEntity;
  /** When the verdict is reported even if the group keeps changing. */
  readonly latest: number;
  reason: string;
  /** Number of members that would get the verdict. */
  pending: number;
  changedAt: number;
  /** When the timer checks the group next; never later than the report is due. */
  checkAt: number;
}

/**
 * Reports to the members of a group that is not ready why it waits. Each group has its own timing: the report follows when the group has
 * not changed for a while. Pods without a group behind scheduling gates need no verdict: the API server sets their condition.
 */
export class NotReadyVerdicts {
  readonly #queue: Pick<SchedulingQueue, 'get'>;
  readonly #verdicts: Pick<Verdicts, 'report'>;
  readonly #clock: Clock;
  readonly #profiles: Pick<Profiles, 'decidesGangs'>;
  /** entity -> its report until it is written; a report whose entity is no longer gated is dropped at its next check */
  readonly #reports = new Map<EntityKey, PendingReport>();
  readonly #byTime = new Heap<PendingReport>((a, b) => a.checkAt - b.checkAt);
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
   * PreEnqueue has rejected the entity. The queue's observer calls this on every change of the entity. Only a new reason or a new number of
   * members delays the verdict.
   */
  gated(entity: QueuedEntity, { message: reason }: Status): void {
    if (entity.schedulingEntity.kind !== 'gang') return;
    const now = this.#clock.monotonic();
    const { size } = entity.schedulingEntity.gang.pending;
    const known = this.#reports.get(entity.key);
    if (known?.entity === entity) {
      if (known.reason === reason && known.pending === size) return;
      known.reason = reason;
      known.pending = size;
      known.changedAt = now;
      return;
    }
    const checkAt = now + quietMs;
    const report = { entity, latest: now + latestMs, reason, pending: size, changedAt: now, checkAt };
    this.#reports.set(entity.key, report);
    this.#byTime.push(report);
    this.#setTimer();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** A running timer never fires too late: new and changed reports are due later. */
  #setTimer(): void {
    const next = this.#byTime.peek();
    if (this.#timer !== undefined || next === undefined) return;
    this.#timer = this.#clock.setTimer(next.checkAt - this.#clock.monotonic(), () => {
      this.#timer = undefined;
      this.#reportDue();
      this.#setTimer();
    });
  }

  #reportDue(): void {
    const now = this.#clock.monotonic();
    for (let next = this.#byTime.peek(); next !== undefined && next.checkAt <= now; next = this.#byTime.peek()) {
      this.#byTime.pop();
      const { entity } = next;
      if (this.#reports.get(entity.key) !== next) continue;
      const { schedulingEntity, state } = entity;
      const isGated = this.#queue.get(entity.key) === entity && state.kind === 'gated';
      const due = Math.min(next.changedAt + quietMs, next.latest);
      if (isGated && due > now) {
        next.checkAt = due;
        this.#byTime.push(next);
        continue;
      }
      this.#reports.delete(entity.key);
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

/** Standalone numbers, not digits within names. */
const counts = /(?<= )\d+(?=[ ,]|$)/g;
