import type { Call } from '../world/call.ts';
import type { PreemptionRecord } from './preemption-record.ts';

/** How often a preemption happened, and what became of it. */
export type PreemptionCounts = Record<
  | 'plans with victims'
  | 'plans with whole gangs'
  | 'plans displaced'
  | 'plans expired'
  | 'crashes in plans'
  | 'Leases lost in plans',
  number
>;

/** Counts what preemptions go through in a run. */
export class PreemptionTally {
  readonly counts: PreemptionCounts = {
    'plans with victims': 0,
    'plans with whole gangs': 0,
    'plans displaced': 0,
    'plans expired': 0,
    'crashes in plans': 0,
    'Leases lost in plans': 0,
  };
  readonly #plans: PreemptionRecord;

  constructor(plans: PreemptionRecord) {
    this.#plans = plans;
  }

  /** An Event with this reason was recorded. */
  reported(reason: string): void {
    if (reason === 'PreemptionDisplaced') this.counts['plans displaced']++;
    if (reason === 'PreemptionExpired') this.counts['plans expired']++;
  }

  /** Counts what happened, at the end of the run. `hasLostLease`: reports whether the process ended because of its Lease. */
  end(hasLostLease: (process: Call['process']) => boolean): PreemptionCounts {
    for (const { process, victims, startedAt, isCancelled } of this.#plans.plans) {
      const isCut = [...victims.values()].some(({ deletes }) => deletes.length === 0);
      if (!isCut || isCancelled || process.isAlive || !process.wasStopped(startedAt, Infinity)) continue;
      this.counts[hasLostLease(process) ? 'Leases lost in plans' : 'crashes in plans']++;
    }
    return this.counts;
  }
}
