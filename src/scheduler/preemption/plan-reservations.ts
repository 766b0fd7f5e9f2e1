import type { Pod } from '../../api/pod.ts';
import type { ReservationPlan } from '../../cluster/reservation.ts';
import type { Nomination } from '../../framework/dry-run.ts';

/** The reservations of one plan: capacity for every planned member of an entity, on free nodes as well. They begin and end together. */
export class PlanReservations implements ReservationPlan {
  readonly priority: number;
  readonly nominations: readonly Nomination[];
  readonly excludesSiblings: boolean;

  /** `nominations`: at least one. */
  constructor(options: ReservationPlan & { readonly nominations: readonly Nomination[] }) {
    this.priority = options.priority;
    this.nominations = options.nominations;
    this.excludesSiblings = options.excludesSiblings === true;
  }

  /** A pod of the entity that owns the plan. */
  get owner(): Pod {
    return this.nominations[0]!.pod;
  }
}
