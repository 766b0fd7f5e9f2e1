import type { Condition } from '../api/condition.ts';
import type { PodGroupStatus } from '../api/pod-group.ts';
import type { DerivedStatus } from './pod-group-status.ts';

/** Fields that the status has only at times. */
const optionalFields = ['predictedStartTime', 'startConfidence'] as const;
type OptionalField = (typeof optionalFields)[number];

/** The fields to write, as a merge patch: absent fields stay, null deletes a field, lists are replaced as a whole. */
export type StatusPatch = Partial<Omit<DerivedStatus, OptionalField> & Record<OptionalField, string | null>>;

/** Returns the patch from `previous` to `derived`; undefined if they are equal. */
export function statusPatch(previous: PodGroupStatus, derived: DerivedStatus): StatusPatch | undefined {
  const patch: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(derived)) {
    const present: unknown = previous[field as keyof DerivedStatus];
    if (field === 'conditions' ? sameConditions(present, derived.conditions) : (present ?? absent(field)) === value)
      continue;
    patch[field] = value;
  }
  for (const field of optionalFields)
    if (derived[field] === undefined && (previous[field] ?? null) !== null) patch[field] = null;
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** Returns the value of an absent field: occupiedBy is omitted instead of written empty. */
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
