import type { Condition } from '../api/condition.ts';
import type { PodGroupStatus } from '../api/pod-group.ts';
import type { DerivedStatus } from './pod-group-status.ts';

/** The fields to write. A merge patch: fields that are absent stay, lists are replaced whole. */
export type StatusPatch = Partial<DerivedStatus>;

/** What must be written so that `previous` says what `derived` says; undefined when it does already. */
export function statusPatch(previous: PodGroupStatus, derived: DerivedStatus): StatusPatch | undefined {
  const patch: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(derived)) {
    const present: unknown = previous[field as keyof DerivedStatus];
    if (field === 'conditions' ? sameConditions(present, derived.conditions) : (present ?? absent(field)) === value)
      continue;
    patch[field] = value;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** Without an owner occupiedBy is left out rather than written empty. */
function absent(field: string): unknown {
  return field === 'occupiedBy' ? '' : undefined;
}

function sameConditions(present: unknown, conditions: readonly Condition[]): boolean {
  if (!Array.isArray(present) || present.length !== conditions.length) return false;
  return conditions.every((condition, index) => {
    const other = present[index] as Partial<Condition> | null;
    const fields = Object.keys({ ...condition, ...other }) as (keyof Condition)[];
    return fields.every((field) => condition[field] === other?.[field]);
  });
}
