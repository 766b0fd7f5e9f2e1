import type { HealthCheck } from './health-check.ts';

/** How long the loop may owe a turn: far longer than any attempt takes. */
const mostOverdueMs = 60_000;

/** Of liveness: fails when there is something to schedule and the scheduling loop does not turn. */
export function loopCheck(loop: { readonly overdueMs: number }): HealthCheck {
  return {
    name: 'scheduling-loop',
    check: () => {
      const { overdueMs } = loop;
      return overdueMs <= mostOverdueMs || `it has not turned for ${Math.round(overdueMs / 1_000)} s`;
    },
  };
}
