import type { PlanItem } from '../../../api/explain/lists.ts';
import type { WaitsFor } from '../../../api/verdict.ts';

/** What an entity can be seen to wait for without the nodes and the pods of others. */
const certain: ReadonlySet<WaitsFor | undefined> = new Set<WaitsFor>(['members', 'gates']);

/**
 * Removes from an item that was planned without the nodes what follows from their absence. The item does not start if it is not ready; otherwise
 * `fits` is absent.
 */
export function withoutNodes({ fits: _, explanation, victims: __, ...item }: PlanItem): PlanItem {
  if (explanation !== undefined && certain.has(explanation.waitsFor)) return { ...item, fits: false, explanation };
  return { ...item, assignments: [] };
}
