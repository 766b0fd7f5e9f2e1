import { preemptionFaults } from './preemption-faults.ts';
import { preemptionPlans } from './preemption-plans.ts';
import { preemptionPolicy } from './preemption-policy.ts';
import { preemptionRivals } from './preemption-rivals.ts';
import { preemptionVictims } from './preemption-victims.ts';

/** Pods and gangs of high priority on a cluster that pods of low priority fill. */
export const preemption = {
  ...preemptionVictims,
  ...preemptionPlans,
  ...preemptionRivals,
  ...preemptionFaults,
  ...preemptionPolicy,
} as const;
