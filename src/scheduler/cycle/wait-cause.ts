import type { WaitsFor } from '../../api/verdict.ts';

/** What a rejected entity waits for. */
export interface WaitCause {
  readonly waitsFor: WaitsFor;
  /** What the verdict of a group says about it. */
  readonly note?: string | undefined;
}
