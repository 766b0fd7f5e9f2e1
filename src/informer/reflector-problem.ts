/**
 * A problem from which the reflector recovered by itself. It is for logs and metrics and needs no reaction.
 * - malformed: an unreadable object or watch line; it is skipped, and the last known state of the object stays.
 * - list, watch: a request failed or a watch broke; the reflector retries after `delayMs`.
 * - oversized: an object is too large for a watch event; only lists update it.
 * - handler: a handler threw.
 */
export type ReflectorProblem =
  | { readonly kind: 'malformed' | 'oversized'; readonly path: string; readonly where: string; readonly error: Error }
  | {
      readonly kind: 'list' | 'watch';
      readonly path: string;
      /** Number of consecutive failures, including this one. */
      readonly failures: number;
      readonly delayMs: number;
      readonly error: Error;
    }
  | { readonly kind: 'handler'; readonly path: string; readonly where: string; readonly error: Error };
