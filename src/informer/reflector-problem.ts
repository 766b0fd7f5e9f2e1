/**
 * Something a reflector met and went on from. Nothing here needs an answer; it is for logs and metrics.
 * - malformed: an object or watch line that could not be read; it is skipped, and what was known of the object stays.
 * - list, watch: a request failed or a watch broke; it is tried again in `delayMs`.
 * - oversized: an object is so large that no watch can tell of it; it is only seen when everything is listed.
 * - handler: a handler threw.
 */
export type ReflectorProblem =
  | { readonly kind: 'malformed' | 'oversized'; readonly path: string; readonly where: string; readonly error: Error }
  | {
      readonly kind: 'list' | 'watch';
      readonly path: string;
      /** Failures in a row, this one included. */
      readonly failures: number;
      readonly delayMs: number;
      readonly error: Error;
    }
  | { readonly kind: 'handler'; readonly path: string; readonly where: string; readonly error: Error };
