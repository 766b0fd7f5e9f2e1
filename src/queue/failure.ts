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
   * uids of pods whose end does not wake the entity, because the preemption that waits for the last of them activates it. If present, even if
   * empty, the entity is tried at most once a second.
   */
  readonly awaited?: ReadonlySet<string> | undefined;
  /** Key of the equivalence class for which the rejection holds. Absent: it holds only for this entity. */
  readonly key?: string | undefined;
}
