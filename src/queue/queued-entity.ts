import type { Candidate, QueueKey } from '../framework/candidate.ts';
import type { Status } from '../framework/status.ts';
import type { Rejection } from '../framework/event-hints.ts';
import type { Failure } from './failure.ts';

/** `pod/<uid>` or `gang/<namespace>/<name>`. */
export type EntityKey = string;

export function entityKeyOf(candidate: Candidate): EntityKey {
  return candidate.kind === 'pod' ? `pod/${candidate.pod.uid}` : `gang/${candidate.gang.key}`;
}

/**
 * Where an entity is:
 * - `gated`: outside the three stores, refused by PreEnqueue; asked again when the entity changes.
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

/** `since` is Clock.monotonic() when it was refused. */
export interface UnschedulableState {
  readonly kind: 'unschedulable';
  readonly since: number;
}

/** What the queue holds and one scheduling cycle decides: a lone pod, or a whole gang. */
export interface QueuedEntity {
  readonly key: EntityKey;
  candidate: Candidate;
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
  /** Of these, those that ended in a refusal: what its back-off after one grows with. */
  refusals: number;
  /** Failed attempts that ended in an error, until it is refused long after the last of them: what its back-off after one grows with. */
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
  candidate: Candidate,
  sortKey: QueueKey,
  since: number,
  known: Partial<Omit<QueuedEntity, 'key' | 'candidate' | 'sortKey' | 'since'>> = {},
): QueuedEntity {
  return {
    key: entityKeyOf(candidate),
    candidate,
    state: { kind: 'inFlight' },
    sortKey,
    readySince: undefined,
    since,
    groupUid: groupUidOf(candidate),
    attempts: 0,
    refusals: 0,
    errors: 0,
    erredAt: 0,
    failedAt: 0,
    rejection: rejectionOf(candidate, { refusedBy: noPlugins, refusedPods: [] }),
    triesAgain: false,
    isActivated: false,
    isFlushed: false,
    ...known,
  };
}

export function rejectionOf(
  { kind }: Candidate,
  { refusedBy, pending = noPlugins, refusedPods, wish }: Omit<Failure, 'error'>,
): Rejection {
  return { isGang: kind === 'gang', refusedBy, pending, refusedPods, wish };
}

/** The last rejection no longer holds, so any event may help. */
export function forgetRejection(entity: QueuedEntity): void {
  entity.rejection = { ...entity.rejection, refusedBy: noPlugins, pending: noPlugins };
}

/** The uid of the group object, once there is one; undefined for a pod. */
export function groupUidOf(candidate: Candidate): string | undefined {
  return candidate.kind === 'gang' ? candidate.gang.spec?.uid : undefined;
}
