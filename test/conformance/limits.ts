import type { JsonValue } from '../../src/embedded/json.ts';

/** A place where the embedded plane answers otherwise than a real server, on purpose or because it is not worth it. */
export interface Limit {
  /** Group and case. */
  readonly case: string;
  /** Where, as differences say it; everything below counts as well. */
  readonly at: string;
  /** What the embedded plane has there; undefined where it has nothing, or where `at` covers more than one place. */
  readonly embedded?: JsonValue;
  readonly why: string;
}
