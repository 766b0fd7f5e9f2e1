import type { SchedulingEntity, QueueKey } from '../framework/scheduling-entity.ts';
import type { ClusterEvent } from '../framework/cluster-event.ts';
import type { EventHints } from '../framework/event-hints.ts';
import type { Status } from '../framework/status.ts';
import type { EntityKey, QueuedEntity } from './queued-entity.ts';

/** Access of the queue to the plugins of an entity's profile and to the scheduler. */
export interface QueuePolicy {
  compare(a: QueueKey, b: QueueKey): number;
  preEnqueue(schedulingEntity: SchedulingEntity): Status | undefined;
  hints(schedulingEntity: SchedulingEntity): EventHints;
  /** Returns whether no plugin registered such events. */
  ignores(event: ClusterEvent): boolean;
  sortKey(schedulingEntity: SchedulingEntity, readySince: number): QueueKey;
}

export interface QueueObserver {
  /** Called when an entity can be popped. */
  ready(): void;
  /** Called when PreEnqueue rejects the entity, and again after each change of it. */
  gated(entity: QueuedEntity, status: Status): void;
  /** Called when an entity was removed without having been scheduled. */
  removed(key: EntityKey): void;
  /** Called when an entity enters a store because of an event. */
  moved(to: 'active' | 'backoff' | 'unschedulable' | 'gated', event: string): void;
}
