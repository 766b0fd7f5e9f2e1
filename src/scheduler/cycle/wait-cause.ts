import type { WaitsFor } from '../../api/verdict.ts';

/** What a rejected entity waits for. */
export interface WaitCause {
  readonly waitsFor: WaitsFor;
  /** What the verdict of a group says about it. */
  readonly note?: string | undefined;
  /** Instead of `note`, if it depends on the namespace of the entity: entities of one equivalence class can be in several. */
  readonly noteFor?: ((namespace: string) => string) | undefined;
}
