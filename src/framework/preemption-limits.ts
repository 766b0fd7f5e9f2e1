import type { BackoffPolicy } from '../base/backoff.ts';

/** How the scheduler carries out the preemptions of a plugin with PostFilter. Times are in milliseconds. */
export interface PreemptionLimits {
  /** How long an entity must have been unschedulable before the scheduler searches for victims. */
  readonly delayMs: number;
  /** How long an entity waits for its victims beyond their longest termination grace period. */
  readonly terminationSlackMs: number;
  /** How long it waits in total at most. */
  readonly maxWaitMs: number;
  /** Pause after a preemption that failed, before the next one for the entity. Its ordinary attempts are not delayed. */
  readonly backoff: BackoffPolicy;
  /** True: victims are evicted through the Eviction API, so that the API server enforces disruption budgets. False: they are deleted. */
  readonly keepsBudgets: boolean;
}

const defaults: PreemptionLimits = {
  delayMs: 0,
  terminationSlackMs: 60_000,
  maxWaitMs: 15 * 60_000,
  backoff: { initialMs: 60_000, maxMs: 3_600_000 },
  keepsBudgets: false,
};

/** Returns the limits that the profile's plugin sets, and defaults for the others. */
export function preemptionLimitsOf({
  postFilters,
}: {
  readonly postFilters: readonly { readonly preemptionLimits?: Partial<PreemptionLimits> }[];
}): PreemptionLimits {
  const plugin = postFilters.find(({ preemptionLimits }) => preemptionLimits !== undefined);
  return { ...defaults, ...plugin?.preemptionLimits };
}
