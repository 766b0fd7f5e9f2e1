import type { Clock, Timer } from '../../base/clock.ts';
import type { Reservation } from '../../cluster/reservation.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { capacityFreed } from '../../framework/cluster-event.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';

/** Claims that were made together, for the same time. */
interface Kept {
  readonly standing: Set<Reservation>;
  readonly timer: Timer;
}

/** Keeps room for pods, for a limited time: when it is over the room is free again, and whoever waits for it hears of it. */
export class Reservations {
  readonly #cluster: Cluster;
  readonly #queue: Pick<SchedulingQueue, 'moveOnEvent' | 'wake'>;
  readonly #clock: Clock;
  /** claim -> those with which it was made; one that has been ended elsewhere goes when their time is over */
  readonly #kept = new Map<Reservation, Kept>();
  /** claim -> Clock.monotonic() since which its room has been kept for its owner */
  readonly #since = new WeakMap<Reservation, number>();

  constructor(options: {
    readonly cluster: Cluster;
    readonly queue: Pick<SchedulingQueue, 'moveOnEvent' | 'wake'>;
    readonly clock: Clock;
  }) {
    this.#cluster = options.cluster;
    this.#queue = options.queue;
    this.#clock = options.clock;
  }

  /**
   * Makes the claims, in the place of those that their owners had, for so many milliseconds; then for as many again, as long as
   * `isNeeded` says so.
   */
  keep(reservations: readonly Omit<Reservation, 'isKept'>[], ms: number, isNeeded: () => boolean = () => false): void {
    const kept = reservations.map((reservation): Reservation => ({ ...reservation, isKept: true }));
    for (const reservation of kept) {
      const before = this.#cluster.reservationOf(reservation.owner.uid);
      const isSameNode = before?.nodeName === reservation.nodeName;
      this.#since.set(reservation, (isSameNode ? this.#since.get(before) : undefined) ?? this.#clock.monotonic());
      this.#cluster.reservation(reservation);
      if (before !== undefined) this.#forget(before);
      if (before !== undefined && before.nodeName !== reservation.nodeName) this.#notify(before);
    }
    this.#setTimer(kept, ms, isNeeded);
  }

  /** kind -> seconds for which the oldest claim that was made here has been standing; 0 when none does */
  get oldestSeconds(): Record<Reservation['kind'], number> {
    const oldest = { nomination: 0, repair: 0 };
    for (const reservation of this.#cluster.reservations()) {
      const since = this.#since.get(reservation);
      if (since === undefined) continue;
      oldest[reservation.kind] = Math.max(oldest[reservation.kind], (this.#clock.monotonic() - since) / 1000);
    }
    return oldest;
  }

  /** Ends no claim any more. */
  stop(): void {
    for (const { timer } of this.#kept.values()) timer.cancel();
    this.#kept.clear();
  }

  #setTimer(reservations: readonly Reservation[], ms: number, isNeeded: () => boolean): void {
    if (reservations.length === 0) return;
    const timer = this.#clock.setTimer(ms, () => {
      const standing = [...kept.standing].filter(
        (reservation) => this.#cluster.reservationOf(reservation.owner.uid) === reservation,
      );
      for (const reservation of kept.standing) this.#kept.delete(reservation);
      if (standing.length > 0 && isNeeded()) this.#setTimer(standing, ms, isNeeded);
      else for (const reservation of standing) this.#end(reservation);
    });
    const kept: Kept = { standing: new Set(reservations), timer };
    for (const reservation of reservations) this.#kept.set(reservation, kept);
  }

  /** The time of those that have ended is not waited for. */
  #forget(reservation: Reservation): void {
    const kept = this.#kept.get(reservation);
    if (kept === undefined) return;
    this.#kept.delete(reservation);
    kept.standing.delete(reservation);
    if (kept.standing.size === 0) kept.timer.cancel();
  }

  /** Ends a claim before its time. */
  end(reservation: Reservation): void {
    if (this.#cluster.reservationOf(reservation.owner.uid) === reservation) this.#end(reservation);
  }

  /** Ends the claim that the pod has, if any, where that kind of claim has lost its reason. The pod goes on waiting for what it waits for. */
  drop(uid: string, kind: Reservation['kind']): void {
    const reservation = this.#cluster.reservationOf(uid);
    if (reservation?.kind === kind) this.#release(reservation);
  }

  #release(reservation: Reservation): void {
    this.#forget(reservation);
    this.#cluster.endReservation(reservation.owner.uid);
    this.#notify(reservation);
  }

  #end(reservation: Reservation): void {
    this.#release(reservation);
    // It need not wait for that room any more: there may be other room for it.
    this.#queue.wake(reservation.owner, 'ClaimEnded');
  }

  #notify({ owner, nodeName }: Reservation): void {
    this.#queue.moveOnEvent(capacityFreed(owner, nodeName));
  }
}
