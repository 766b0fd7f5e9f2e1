import type { SchedulingEntity, QueueKey } from '../framework/scheduling-entity.ts';
import type { Status } from '../framework/status.ts';
import type { Rejection } from '../framework/event-hints.ts';
import type { Failure } from './failure.ts';

/** `pod/<uid>` or `gang/<namespace>/<name>`. */
export type EntityKey = string;

export function entityKeyOf(schedulingEntity: SchedulingEntity): EntityKey {
  return schedulingEntity.kind === 'pod' ? `pod/${schedulingEntity.pod.uid}` : `gang/${schedulingEntity.gang.key}`;
}

/**
 * Where an entity is:
 * - `gated`: outside the three stores, rejected by PreEnqueue; asked again when the entity changes.
 * - `active`: waits for its turn. `backoff`: waits for its penalty to end, then becomes active.
 * - `unschedulable`: failed; waits for an event that may help it.
 * - `inFlight`: popped, its scheduling cycle runs.
 * - `setAside`: popped, and its attempt waits for somebody outside, while other entities go on.
 */
export type EntityState =
  | { readonly kind: 'gated'; readonly status: Status }
  | { readonly kind: 'active' }
  | BackoffState
  | UnschedulableState
  | { readonly kind: 'inFlight' }
  | { readonly kind: 'setAside' };

/** `until` is Clock.monotonic() at the end of the penalty. */
export interface BackoffState {
  readonly kind: 'backoff';
  readonly until: number;
}

/** `since` is Clock.monotonic() when it was rejected. */
export interface UnschedulableState {
  readonly kind: 'unschedulable';
  readonly since: number;
}

/** What the queue holds and one scheduling cycle decides: a lone pod, or a whole gang. */
export interface QueuedEntity {
  readonly key: EntityKey;
  schedulingEntity: SchedulingEntity;
  state: EntityState;
  /** What QueueSort compares; frozen while queued. */
  sortKey: QueueKey;
  /** When it first became ready, milliseconds since the epoch; undefined until then. */
  readySince: number | undefined;
  /** When it was first known, milliseconds since the epoch. */
  since: number;
  /** uid of the group object, once one has been seen; undefined for a pod. */
  groupUid: string | undefined;
  /** Scheduling attempts so far. */
  attempts: number;
  /** Of these, those that ended in a rejection: what its back-off after one grows with. */
  rejections: number;
  /** Failed attempts that ended in an error, until it is rejected long after the last of them: what its back-off after one grows with. */
  errors: number;
  /** Monotonic time of the last error. */
  erredAt: number;
  /** Monotonic time of the last failure. */
  failedAt: number;
  /** Why its last attempt was rejected. */
  rejection: Rejection;
  /** If its attempt fails it is tried again: since it was taken it has come to ask for something else, or was to be activated. */
  triesAgain: boolean;
  /** Somebody has asked for its attempt: what it, or others like it, were told before does not stand in its way. */
  isActivated: boolean;
  /** No event, only time has brought it to its attempt. */
  isFlushed: boolean;
}

const noPlugins: ReadonlySet<string> = new Set();

/** One that is in no store and has not been tried, or has the past that is `known`; `since` in milliseconds since the epoch. */
export function newEntity(
  schedulingEntity: SchedulingEntity,
  sortKey: QueueKey,
  since: number,
  known: Partial<Omit<QueuedEntity, 'key' | 'schedulingEntity' | 'sortKey' | 'since'>> = {},
): QueuedEntity {
  return {
    key: entityKeyOf(schedulingEntity),
    schedulingEntity,
    state: { kind: 'inFlight' },
    sortKey,
    readySince: undefined,
    since,
    groupUid: groupUidOf(schedulingEntity),
    attempts: 0,
    rejections: 0,
    errors: 0,
    erredAt: 0,
    failedAt: 0,
    rejection: rejectionOf(schedulingEntity, { unschedulablePlugins: noPlugins, rejectedPods: [] }),
    triesAgain: false,
    isActivated: false,
    isFlushed: false,
    ...known,
  };
}

export function rejectionOf(
  { kind }: SchedulingEntity,
  { unschedulablePlugins, pending = noPlugins, rejectedPods, demand }: Omit<Failure, 'error'>,
): Rejection {
  return { isGang: kind === 'gang', unschedulablePlugins, pending, rejectedPods, demand };
}

/** The last rejection no longer holds, so any event may help. */
export function forgetRejection(entity: QueuedEntity): void {
  entity.rejection = { ...entity.rejection, unschedulablePlugins: noPlugins, pending: noPlugins };
}

/** The uid of the group object, once there is one; undefined for a pod. */
export function groupUidOf(schedulingEntity: SchedulingEntity): string | undefined {
  return schedulingEntity.kind === 'gang' ? schedulingEntity.gang.spec?.uid : undefined;
}
