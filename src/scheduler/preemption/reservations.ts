import type { Clock } from '../../base/clock.ts';
import { DueTimes } from '../../base/due-times.ts';
import { Listeners } from '../../base/listeners.ts';
import type { Reservation, ReservationKind } from '../../cluster/reservation.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { capacityFreed } from '../../framework/cluster-event.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import type { PlanReservations } from './plan-reservations.ts';

/**
 * Reserves capacity for pods for a limited time: for a lost member alone, or for all members of a plan together. When a reservation ends,
 * the capacity is freed and the queue wakes entities that wait for it.
 */
export class Reservations {
  /** A reservation was made here, for an owner that had none of its kind. */
  readonly made = new Listeners<[Reservation]>();
  /** A reservation that was made here has ended; its owner has no other one. Called before the queue wakes entities. */
  readonly ended = new Listeners<[Reservation]>();
  readonly #cluster: Cluster;
  readonly #queue: Pick<SchedulingQueue, 'moveOnEvent' | 'wake'>;
  readonly #clock: Clock;
  /** reservation outside a plan, due when it ends; one that ended elsewhere stays until then */
  readonly #ends: DueTimes<Reservation>;
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
    this.#ends = new DueTimes(options.clock, (reservation) => this.end(reservation));
  }

  /**
   * Creates a reservation, or replaces the owner's earlier one. It lasts for `ms` milliseconds. One that is part of a plan on the same node
   * stays part of it, so that the plan ends as a whole.
   */
  keep(reservation: Omit<Reservation, 'isKept' | 'plan'>, ms: number): void {
    const before = this.#cluster.reservationOf(reservation.owner.uid);
    const isPlanned = before?.nodeName === reservation.nodeName && before.kind !== 'backfill';
    const plan = isPlanned ? before.plan : undefined;
    const kept: Reservation = { ...reservation, isKept: true, ...(plan !== undefined && { plan }) };
    this.#set(kept);
    this.#ends.set(kept, this.#clock.monotonic() + ms, undefined);
  }

  /** Creates the reservations of a plan, and replaces earlier ones of their owners. They last until `endPlan`. */
  keepPlan(plan: PlanReservations): void {
    for (const { pod, nodeName } of plan.nominations) {
      const before = this.#cluster.reservationOf(pod.uid);
      // A repair may be exclusive, and must not become weaker.
      const { kind, isExclusive } = before?.kind === 'repair' ? before : ({ kind: 'nomination' } as const);
      // Another component may have nominated it there before.
      if (this.#cluster.pod(pod.uid)?.nominatedNodeName !== nodeName)
        this.#cluster.ownNominations.add(pod.uid, nodeName);
      this.#set({ kind, owner: pod, nodeName, isKept: true, plan, ...(isExclusive === true && { isExclusive }) });
    }
  }

  /**
   * Reserves capacity for a predicted start until `endPlan`. `before`: the entity's earlier plan, which this one replaces. Frees only what the
   * new plan does not reserve. Does not wake the owner.
   */
  keepBackfill(plan: PlanReservations, before?: PlanReservations): void {
    for (const { pod, nodeName } of plan.nominations)
      this.#set({ kind: 'backfill', owner: pod, nodeName, isKept: true, plan });
    if (before !== undefined) this.endPlan(before);
  }

  /**
   * Ends all reservations of the plan that still exist: one event per node and kind of pod. Does not wake the owner. `used`: uid -> node on which
   * the pod now is; capacity that its own pod uses is not freed.
   */
  endPlan(plan: PlanReservations, used?: ReadonlyMap<string, string>): void {
    const standing = plan.nominations.flatMap(({ pod }) => {
      const reservation = this.#cluster.reservationOf(pod.uid);
      return reservation?.plan === plan ? [reservation] : [];
    });
    for (const { owner } of standing) this.#cluster.endReservation(owner.uid);
    for (const reservation of standing) this.ended.emit(reservation);
    const freed = standing.filter(({ owner, nodeName }) => used?.get(owner.uid) !== nodeName);
    for (const onNode of Map.groupBy(freed, ({ nodeName }) => nodeName).values()) {
      const byTemplate = new Map(onNode.map((reservation) => [reservation.owner.template, reservation]));
      for (const reservation of byTemplate.values()) this.#notify(reservation);
    }
  }

  /** kind -> age in seconds of the oldest reservation that was made here; 0 if there is none */
  get oldestSeconds(): Record<ReservationKind, number> {
    const oldest = { nomination: 0, repair: 0, backfill: 0 };
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

  /**
   * Ends a reservation early and wakes its owner, which no longer needs to wait for this capacity and may fit elsewhere. One that is part of a
   * plan stays.
   */
  end(reservation: Reservation): void {
    const isStanding = this.#cluster.reservationOf(reservation.owner.uid) === reservation;
    if (!isStanding || this.#isOfPlan(reservation)) return;
    this.#release(reservation);
    this.#queue.wake(reservation.owner, 'ReservationEnded');
  }

  /** Ends the pod's reservation if it is of this kind, outside a plan, and no longer has a reason. Does not wake the pod. */
  drop(uid: string, kind: Reservation['kind']): void {
    const reservation = this.#cluster.reservationOf(uid);
    if (reservation?.kind === kind && !this.#isOfPlan(reservation)) this.#release(reservation);
  }

  /** Returns whether a plan keeps the capacity. If it was also a repair, that is over, and it no longer excludes all other pods. */
  #isOfPlan(reservation: Reservation): boolean {
    const { kind, owner, nodeName, plan } = reservation;
    if (plan === undefined) return false;
    if (kind === 'repair') {
      this.#set({ kind: 'nomination', owner, nodeName, isKept: true, plan });
      this.#notify(reservation);
    }
    return true;
  }

  #set(reservation: Reservation): void {
    const before = this.#cluster.reservationOf(reservation.owner.uid);
    const isSameNode = before?.nodeName === reservation.nodeName;
    this.#since.set(reservation, (isSameNode ? this.#since.get(before) : undefined) ?? this.#clock.monotonic());
    this.#cluster.reservation(reservation);
    if (before?.kind !== reservation.kind) this.made.emit(reservation);
    if (before === undefined) return;
    this.#ends.delete(before);
    if (!isSameNode) this.#notify(before);
  }

  #release(reservation: Reservation): void {
    this.#ends.delete(reservation);
    this.#cluster.endReservation(reservation.owner.uid);
    this.ended.emit(reservation);
    this.#notify(reservation);
  }

  #notify({ owner, nodeName }: Reservation): void {
    this.#queue.moveOnEvent(capacityFreed(owner, nodeName));
  }
}
