import type { HealthCheck } from './health-check.ts';

/** Maximum delay of the scheduling loop: far longer than any attempt takes. */
const maxOverdueMs = 60_000;

/** Liveness check: fails if there is work to schedule and the scheduling loop makes no progress. */
export function loopCheck(loop: { readonly overdueMs: number }): HealthCheck {
  return {
    name: 'scheduling-loop',
    check: () => {
      const { overdueMs } = loop;
      return (
        overdueMs <= maxOverdueMs || `the scheduling loop has made no progress for ${Math.round(overdueMs / 1_000)} s`
      );
    },
  };
}
