import type { Pod } from '../api/pod.ts';
import type { Wish } from '../framework/wish.ts';

/** Why an attempt failed. */
export interface Failure {
  readonly refusedBy: ReadonlySet<string>;
  /** Of these, those that answered Pending. Absent: none. */
  readonly pending?: ReadonlySet<string> | undefined;
  readonly refusedPods: readonly Pod[];
  /** An error rather than a refusal: retried after the back-off without waiting for an event. */
  readonly error: boolean;
  /** What has to be placed; absent: not known. */
  readonly wish?: Wish | undefined;
  /** It was certain that it would be refused again, and nothing else was found out: what it was told may be out of date. */
  readonly isOutdated?: boolean;
  /** Equal texts: asked for the same on the same picture, and refused for the same. Absent: there is nobody like it. */
  readonly question?: string | undefined;
}
