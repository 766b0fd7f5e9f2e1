import type { Clock } from '../../base/clock.ts';
import { DueTimes } from '../../base/due-times.ts';
import { Listeners } from '../../base/listeners.ts';
import type { Reservation } from '../../cluster/reservation.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { capacityFreed } from '../../framework/cluster-event.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';

/** Reservations that were made together, for the same time. */
interface Batch {
  readonly reservations: readonly Reservation[];
  readonly ms: number;
  readonly isNeeded: () => boolean;
}

/** Reserves capacity for pods for a limited time. When the time ends, the capacity is freed and the queue wakes entities that wait for it. */
export class Reservations {
  /** A reservation that was made here has ended; its owner has no other one. Called before the queue wakes entities. */
  readonly ended = new Listeners<[Reservation]>();
  readonly #cluster: Cluster;
  readonly #queue: Pick<SchedulingQueue, 'moveOnEvent' | 'wake'>;
  readonly #clock: Clock;
  /** reservation -> its batch; a reservation that ended elsewhere is removed when the batch's time ends */
  readonly #ends: DueTimes<Reservation, Batch>;
  /** reservation -> Clock.monotonic() since which its owner has had capacity reserved on the node */
  readonly #since = new WeakMap<Reservation, number>();

  constructor(options: {
    readonly cluster: Cluster;
    readonly queue: Pick<SchedulingQueue, 'moveOnEvent' | 'wake'>;
    readonly clock: Clock;
  }) {
    this.#cluster = options.cluster;
    this.#queue = options.queue;
    this.#clock = options.clock;
    this.#ends = new DueTimes(options.clock, (_reservation, batch) => this.#onTimeEnded(batch));
  }

  /**
   * Creates the reservations, replacing earlier ones of their owners. They last for `ms` milliseconds and are extended by the same time as
   * long as `isNeeded` returns true.
   */
  keep(reservations: readonly Omit<Reservation, 'isKept'>[], ms: number, isNeeded: () => boolean = () => false): void {
    const kept = reservations.map((reservation): Reservation => ({ ...reservation, isKept: true }));
    for (const reservation of kept) {
      const before = this.#cluster.reservationOf(reservation.owner.uid);
      const isSameNode = before?.nodeName === reservation.nodeName;
      this.#since.set(reservation, (isSameNode ? this.#since.get(before) : undefined) ?? this.#clock.monotonic());
      this.#cluster.reservation(reservation);
      if (before !== undefined) this.#ends.delete(before);
      if (before !== undefined && before.nodeName !== reservation.nodeName) this.#notify(before);
    }
    this.#start({ reservations: kept, ms, isNeeded });
  }

  /** kind -> age in seconds of the oldest reservation that was made here; 0 if there is none */
  get oldestSeconds(): Record<Reservation['kind'], number> {
    const oldest = { nomination: 0, repair: 0 };
    for (const reservation of this.#cluster.reservations()) {
      const since = this.#since.get(reservation);
      if (since === undefined) continue;
      oldest[reservation.kind] = Math.max(oldest[reservation.kind], (this.#clock.monotonic() - since) / 1000);
    }
    return oldest;
  }

  /** No reservation ends after that because of its time. */
  stop(): void {
    this.#ends.stop();
  }

  #start(batch: Batch): void {
    const end = this.#clock.monotonic() + batch.ms;
    for (const reservation of batch.reservations) this.#ends.set(reservation, end, batch);
  }

  #onTimeEnded(batch: Batch): void {
    for (const reservation of batch.reservations) this.#ends.delete(reservation);
    const standing = batch.reservations.filter(
      (reservation) => this.#cluster.reservationOf(reservation.owner.uid) === reservation,
    );
    if (standing.length > 0 && batch.isNeeded()) this.#start({ ...batch, reservations: standing });
    else for (const reservation of standing) this.#end(reservation);
  }

  /** Ends a reservation early and wakes its owner. */
  end(reservation: Reservation): void {
    if (this.#cluster.reservationOf(reservation.owner.uid) === reservation) this.#end(reservation);
  }

  /** Ends the pod's reservation if it is of this kind and no longer has a reason. Does not wake the pod. */
  drop(uid: string, kind: Reservation['kind']): void {
    const reservation = this.#cluster.reservationOf(uid);
    if (reservation?.kind === kind) this.#release(reservation);
  }

  #release(reservation: Reservation): void {
    this.#ends.delete(reservation);
    this.#cluster.endReservation(reservation.owner.uid);
    this.ended.emit(reservation);
    this.#notify(reservation);
  }

  #end(reservation: Reservation): void {
    this.#release(reservation);
    // The owner no longer needs to wait for this capacity and may fit elsewhere.
    this.#queue.wake(reservation.owner, 'ClaimEnded');
  }

  #notify({ owner, nodeName }: Reservation): void {
    this.#queue.moveOnEvent(capacityFreed(owner, nodeName));
  }
}
