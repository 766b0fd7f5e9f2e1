import type { Pod } from '../../api/pod.ts';
import { isAtMost } from '../../api/resource-list.ts';
import { partition } from '../../base/partition.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { reservedPriority } from '../../cluster/reservation.ts';
import type { Reservation } from '../../cluster/reservation.ts';
import type { Demand } from '../placement/planning/demand.ts';
import type { Turn } from './turn.ts';

/** Returns what Tutti has reserved, apart from turns, for the entity with these pods. A nomination by another component does not count. */
export function ownReservations(cluster: Cluster, members: readonly Pod[]): readonly Reservation[] {
  const key = members[0]?.podGroupKey;
  // The owner may be a placeholder for a lost member.
  const own =
    key !== undefined && cluster.hasReservationFor(key)
      ? [...cluster.reservations()].filter(({ owner }) => owner.podGroupKey === key)
      : members.flatMap(({ uid }) => cluster.reservationOf(uid) ?? []);
  return own.filter(({ kind, isKept }) => kind !== 'backfill' && isKept === true);
}

/** Returns whether the reservation is for a member that was lost, or could not be bound, and no preemption relies on it. */
export function isOfLostMember({ kind, plan }: Reservation): boolean {
  return kind === 'repair' && plan === undefined;
}

/**
 * Returns whether a reservation for another entity, apart from turns, goes before the turn: the entity with the turn must respect it, and it is not for a
 * lost member that was itself backfilled during the turn. Otherwise a group could stay by replacing one member after the other.
 */
function goesBefore(reservation: Reservation, { plan, backfilled }: Turn): boolean {
  if (reservation.kind === 'backfill' || reservation.isKept !== true) return false;
  if (reservedPriority(reservation) < plan.priority) return false;
  return !isOfLostMember(reservation) || !backfilled.has(reservation.owner.key);
}

/**
 * Returns the nodes where the entity's own reservations go before the turn. Those for lost members do so only if the entity needs no more than these left:
 * otherwise a group could grow.
 */
export function nodesBefore(
  turn: Turn,
  own: readonly Reservation[],
  { members, needed }: Pick<Demand, 'members' | 'needed'>,
): ReadonlySet<string> {
  const before = own.filter((reservation) => goesBefore(reservation, turn));
  const [left, others] = partition(before, isOfLostMember);
  const counts = left.length > 0 && canReplace(left, members, needed);
  return new Set((counts ? before : others).map(({ nodeName }) => nodeName));
}

/** Returns whether any `needed` of the members can each replace another one of the lost members, because they request no more. */
function canReplace(lost: readonly Reservation[], members: readonly Pod[], needed: number): boolean {
  if (needed > lost.length) return false;
  const replaceable = members.map(({ template }) =>
    lost.filter(({ owner }) => isAtMost(template.requests, owner.template.requests)),
  );
  const hardestFirst = replaceable.sort((a, b) => a.length - b.length).slice(0, needed);
  const free = new Set(lost);
  return hardestFirst.every((alternatives) => {
    const replaced = alternatives.find((each) => free.has(each));
    return replaced !== undefined && free.delete(replaced);
  });
}
