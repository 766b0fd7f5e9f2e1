import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';

/** Work that reads the cluster cache between attempts, such as an explanation. It must leave the cache as it was. */
export interface SideWork {
  /** Returns the next part, once the last one has ended; undefined: there is none now. */
  nextPart(): ((budget: WorkBudget) => Yielding<void>) | undefined;
  /** The part has thrown. Attempts go on. */
  failed(error: unknown): void;
}
