import type { SchedulingEntity, QueueKey } from '../framework/scheduling-entity.ts';
import type { Status } from '../framework/status.ts';
import type { Rejection } from '../framework/event-hints.ts';
import type { Failure } from './failure.ts';

/** `pod/<uid>` or `gang/<group key>`. */
export type EntityKey = string;

export function entityKeyOf(schedulingEntity: SchedulingEntity): EntityKey {
  return schedulingEntity.kind === 'pod' ? `pod/${schedulingEntity.pod.uid}` : `gang/${schedulingEntity.gang.key}`;
}

/**
 * State of an entity:
 * - `gated`: rejected by PreEnqueue and outside the three stores; PreEnqueue runs again when the entity changes.
 * - `active`: waits for its turn. `backoff`: waits for its backoff to end, then becomes active.
 * - `unschedulable`: failed; waits for an event that may help it.
 * - `inFlight`: popped; its scheduling cycle runs.
 * - `setAside`: popped; its attempt waits for an external response while other entities continue.
 */
export type EntityState =
  | { readonly kind: 'gated'; readonly status: Status }
  | { readonly kind: 'active' }
  | BackoffState
  | UnschedulableState
  | { readonly kind: 'inFlight' }
  | { readonly kind: 'setAside' };

/** `until` is Clock.monotonic() at the end of the backoff. */
export interface BackoffState {
  readonly kind: 'backoff';
  readonly until: number;
}

/** `since` is Clock.monotonic() at the rejection. */
export interface UnschedulableState {
  readonly kind: 'unschedulable';
  readonly since: number;
}

/** The unit that the queue holds and one scheduling cycle decides: a single pod, or a whole gang. */
export interface QueuedEntity {
  readonly key: EntityKey;
  schedulingEntity: SchedulingEntity;
  state: EntityState;
  /** Input of QueueSort; frozen while the entity is queued. */
  sortKey: QueueKey;
  /** Time at which the entity first became ready, in milliseconds since the epoch; undefined until then. */
  readySince: number | undefined;
  /** Time at which the entity was first observed, in milliseconds since the epoch. */
  since: number;
  /** uid of the group object once observed; undefined for a pod. */
  groupUid: string | undefined;
  /** Number of scheduling attempts. */
  attempts: number;
  /** Number of attempts that ended in a rejection; determines the backoff after a rejection. */
  rejections: number;
  /** Number of attempts that ended in an error, reset by a rejection long after the last error; determines the backoff after an error. */
  errors: number;
  /** Monotonic time of the last error. */
  erredAt: number;
  /** Monotonic time of the last failure. */
  failedAt: number;
  /** Cluster.changes when the last verdict was found; undefined: there is none. */
  verdictAt: number | undefined;
  /** Position in the record of transitions of its latest one, if that is a rejection of a pod; otherwise -1. */
  rejectionPosition: number;
  /** Rejection of the last attempt. */
  rejection: Rejection;
  /** See Failure.awaited. */
  awaited: ReadonlySet<string> | undefined;
  /** True if a failed attempt must be retried: since the entity was popped, its demand has changed or it was activated. */
  triesAgain: boolean;
  /** True if a plugin activated the entity: earlier rejections of it, or of its class, must not prevent the attempt. */
  isActivated: boolean;
  /** True if the flush, not an event, caused the attempt. */
  isFlushed: boolean;
}

const noPlugins: ReadonlySet<string> = new Set();

/** Creates an entity that is in no store. It has no attempts, except as `known` says. `since` is in milliseconds since the epoch. */
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
    verdictAt: undefined,
    rejectionPosition: -1,
    rejection: rejectionOf(schedulingEntity, { unschedulablePlugins: noPlugins, rejectedPods: [] }),
    awaited: undefined,
    triesAgain: false,
    isActivated: false,
    isFlushed: false,
    ...known,
  };
}

export function rejectionOf(
  { kind }: SchedulingEntity,
  { unschedulablePlugins, pending = noPlugins, rejectedPods, demand, waitsForTurn }: Omit<Failure, 'error'>,
): Rejection {
  return { isGang: kind === 'gang', unschedulablePlugins, pending, rejectedPods, demand, waitsForTurn };
}

/** Drops the last rejection, so that any event may help. */
export function forgetRejection(entity: QueuedEntity): void {
  entity.rejection = { ...entity.rejection, unschedulablePlugins: noPlugins, pending: noPlugins };
}

/** Returns the uid of the group object if it exists; undefined for a pod. */
export function groupUidOf(schedulingEntity: SchedulingEntity): string | undefined {
  return schedulingEntity.kind === 'gang' ? schedulingEntity.gang.spec?.uid : undefined;
}
