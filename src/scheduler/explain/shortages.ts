import type { Shortage } from '../../api/explain/explanation.ts';
import { formatAmount } from '../../api/format-amount.ts';
import { missingAmountOf } from '../../framework/capacity-shortage.ts';
import type { CapacityShortage } from '../../framework/capacity-shortage.ts';

/** Returns the amounts of the shortage as users read them. */
export function shortageForUsers(shortage: CapacityShortage): Shortage {
  const { resource, free, left, largest, total } = shortage;
  const missing = missingAmountOf(shortage);
  return {
    resource,
    ...(missing !== undefined && { more: formatAmount(resource, missing.amount) }),
    ...(missing?.isAtLeast === true && { isAtLeast: true }),
    free: formatAmount(resource, free),
    left: formatAmount(resource, left),
    mostLeft: formatAmount(resource, largest),
    total: formatAmount(resource, total),
  };
}
