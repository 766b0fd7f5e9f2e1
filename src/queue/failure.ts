import type { Rejection } from '../framework/event-hints.ts';

/** Why an attempt failed. */
export interface Failure extends Omit<Rejection, 'isGang' | 'pending'> {
  /** Subset of `unschedulablePlugins` that returned Pending. Absent: none. */
  readonly pending?: ReadonlySet<string> | undefined;
  /** An error rather than a rejection: retried after the backoff without waiting for an event. */
  readonly error: boolean;
  /** True if plugins ruled the entity out without an attempt, so that its reported cause may be outdated. */
  readonly isStale?: boolean;
  /**
   * uids of pods that the entity waits for. Their end does not wake it, and it is tried at most once a second: the one who waits for the
   * last of them activates it. Absent: none.
   */
  readonly awaited?: ReadonlySet<string> | undefined;
  /** Key of the equivalence class for which the rejection holds. Absent: it holds only for this entity. */
  readonly key?: string | undefined;
}
