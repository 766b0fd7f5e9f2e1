import type { SchedulingEntity, QueueKey } from '../framework/scheduling-entity.ts';
import type { ClusterEvent } from '../framework/cluster-event.ts';
import type { EventHints } from '../framework/event-hints.ts';
import type { Status } from '../framework/status.ts';
import type { QueuedEntity } from './queued-entity.ts';

/** How the queue talks to the plugins of the entity's profile, and to the scheduler. */
export interface QueuePolicy {
  compare(a: QueueKey, b: QueueKey): number;
  preEnqueue(schedulingEntity: SchedulingEntity): Status | undefined;
  hints(schedulingEntity: SchedulingEntity): EventHints;
  /** Nobody registered such events. */
  ignores(event: ClusterEvent): boolean;
  sortKey(schedulingEntity: SchedulingEntity, readySince: number): QueueKey;
}

export interface QueueObserver {
  /** Something can be popped. */
  ready(): void;
  /** The entity was rejected by PreEnqueue; again at each change of it. */
  gated(entity: QueuedEntity, status: Status): void;
  /** An entity entered a store because of an event. */
  moved(to: 'active' | 'backoff' | 'unschedulable' | 'gated', event: string): void;
}
