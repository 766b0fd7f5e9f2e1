import type { EntityKey } from '../../queue/queued-entity.ts';
import { PlanReservations } from '../preemption/plan-reservations.ts';
import type { FuturePlan } from './start-search.ts';

/** What a prediction found for an entity. */
export interface PredictedTurn {
  /** Value of the pool label; empty if the cluster is one pool. */
  readonly pool: string;
  readonly future: FuturePlan;
}

/** Why a turn ends: the entity starts, it no longer waits for capacity or asks for something else, or another one is ahead of it. */
export type TurnEnd = 'started' | 'withdrawn' | 'displaced';

/** The turn of an entity that waits for capacity in one pool, and the reservations for it. */
export class Turn {
  readonly key: EntityKey;
  /** namespace/name of the gang or pod */
  readonly name: string;
  readonly pool: string;
  readonly future: FuturePlan;
  readonly plan: PlanReservations;
  /** When the entity got the turn, in milliseconds since the epoch. */
  readonly since: number;
  /** Number of changes in the cluster at the prediction. */
  readonly changes: number;
  /** By how much the wall clock was ahead of Clock.monotonic() at the prediction, in milliseconds. */
  readonly clockOffset: number;
  /** namespace/name of the group members that were placed on the reserved nodes since then, because they leave the capacity free or end in time */
  readonly backfilled: Set<string>;

  constructor(
    options: Pick<Turn, 'key' | 'name' | 'since' | 'changes' | 'backfilled' | 'clockOffset'> & {
      readonly priority: number;
      /** Whether the entity is a single pod, perhaps one of a group whose members wait one by one. */
      readonly isOfOnePod: boolean;
      readonly predicted: PredictedTurn;
    },
  ) {
    const { key, name, since, changes, backfilled, clockOffset, priority, isOfOnePod, predicted } = options;
    this.key = key;
    this.name = name;
    this.since = since;
    this.changes = changes;
    this.backfilled = backfilled;
    this.clockOffset = clockOffset;
    this.pool = predicted.pool;
    this.future = predicted.future;
    const { nominations } = predicted.future;
    this.plan = new PlanReservations({ priority, nominations, excludesSiblings: isOfOnePod });
  }

  get nodeNames(): ReadonlySet<string> {
    return new Set(this.plan.nominations.map(({ nodeName }) => nodeName));
  }
}
