import type { Rejection } from '../framework/event-hints.ts';

/** Why an attempt failed. */
export interface Failure extends Omit<Rejection, 'isGang' | 'pending'> {
  /** Of `unschedulablePlugins`, the plugins that answered Pending. Absent: none. */
  readonly pending?: ReadonlySet<string> | undefined;
  /** An error rather than a rejection: retried after the back-off without waiting for an event. */
  readonly error: boolean;
  /** Plugins ruled the entity out without an attempt, so that the cause that it was given may be out of date. */
  readonly isStale?: boolean;
  /** Of the equivalence class that the rejection holds for. Absent: it holds for this entity only. */
  readonly key?: string | undefined;
}
