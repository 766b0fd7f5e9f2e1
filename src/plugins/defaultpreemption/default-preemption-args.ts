import type { PreemptionLimits } from '../../framework/preemption-limits.ts';
import { PluginArguments } from '../plugin-arguments.ts';
import type { ReportProblem } from '../argument-schema.ts';

/** Arguments of DefaultPreemption: those of kube-scheduler, and Tutti's own. */
export interface DefaultPreemptionArgs {
  /** Accepted for compatibility. kube-scheduler limits its search to a sample of the nodes; Tutti considers all nodes. */
  readonly minCandidateNodesPercentage: number;
  /** Accepted for compatibility. */
  readonly minCandidateNodesAbsolute: number;
  /** Pods are not evicted before they have run this long. */
  readonly minRuntimeSeconds: number;
  /** Pods with at least this priority are never evicted. Absent: no limit. */
  readonly protectedPriorityAtLeast?: number;
  /** Prefer: pods that exceed disruption budgets are evicted only if no others help. Enforce: they are never evicted. */
  readonly podDisruptionBudgets: 'Prefer' | 'Enforce';
  /** Whether members of a group beyond its minMember preempt. */
  readonly surplusPreempts: boolean;
  /** How long an entity must have been unschedulable before it preempts. */
  readonly preemptionDelaySeconds: number;
  /** How long an entity waits for its victims beyond their longest termination grace period. */
  readonly terminationSlackSeconds: number;
  /** How long it waits in total at most. Pods whose grace period would exceed this are not evicted. */
  readonly maxNominationSeconds: number;
  /** Pause after a preemption that failed, before the next one for the same entity; doubles with each failure. */
  readonly backoffSeconds: { readonly initial: number; readonly max: number };
  /** Maximum number of pods to evict for one entity. 0: no limit. */
  readonly maxVictims: number;
  /** Maximum number of groups to evict whole for one entity. 0: no limit. */
  readonly maxVictimGroups: number;
  /** Maximum number of plans in one search for victims. */
  readonly maxPlans: number;
}

const noEffect = 'Tutti considers every node';
/** Longest time that an argument may set: one day. */
const maxSeconds = 86_400;
const seconds = { type: 'integer', minimum: 0, maximum: maxSeconds } as const;

export const defaultPreemptionArguments = new PluginArguments('DefaultPreemption', {
  type: 'object',
  additionalProperties: false,
  properties: {
    minCandidateNodesPercentage: { type: 'integer', minimum: 0, maximum: 100, default: 10, noEffect },
    minCandidateNodesAbsolute: { type: 'integer', minimum: 0, default: 100, noEffect },
    minRuntimeSeconds: { type: 'integer', minimum: 0, default: 0 },
    protectedPriorityAtLeast: { type: 'integer' },
    podDisruptionBudgets: { enum: ['Prefer', 'Enforce'], default: 'Prefer' },
    surplusPreempts: { type: 'boolean', default: false },
    preemptionDelaySeconds: { ...seconds, default: 0 },
    terminationSlackSeconds: { ...seconds, default: 60 },
    maxNominationSeconds: { ...seconds, minimum: 1, default: 900 },
    backoffSeconds: {
      type: 'object',
      additionalProperties: false,
      properties: {
        initial: { ...seconds, minimum: 1, default: 60 },
        max: { ...seconds, minimum: 1, default: 3600 },
      },
      check: ({ initial, max }: DefaultPreemptionArgs['backoffSeconds'], report: ReportProblem) => {
        if (initial > max)
          report(['initial'], `must not be more than max (got ${initial} and ${max}): lower initial, or raise max`);
      },
      default: {},
    },
    maxVictims: { type: 'integer', minimum: 0, default: 0 },
    maxVictimGroups: { type: 'integer', minimum: 0, default: 0 },
    maxPlans: { type: 'integer', minimum: 1, default: 40 },
  },
  check: (args: DefaultPreemptionArgs, report: ReportProblem) => {
    if (args.minCandidateNodesPercentage === 0 && args.minCandidateNodesAbsolute === 0)
      report(['minCandidateNodesAbsolute'], 'must be at least 1 if minCandidateNodesPercentage is 0');
    const { terminationSlackSeconds: slack, maxNominationSeconds: max } = args;
    if (slack >= max) {
      const problem = `must be less than maxNominationSeconds (got ${slack} and ${max})`;
      report(
        ['terminationSlackSeconds'],
        `${problem}: otherwise no pod could terminate in time; lower it, or raise the other`,
      );
    }
    const { maxVictims, maxVictimGroups } = args;
    if (maxVictims > 0 && maxVictimGroups > maxVictims) {
      const problem = `must not be more than maxVictims (got ${maxVictimGroups} and ${maxVictims})`;
      report(['maxVictimGroups'], `${problem}: a group has at least one pod; lower it, or raise maxVictims`);
    }
  },
});

/** Reads the arguments and fills in defaults. Throws PluginArgumentsError. */
export function readDefaultPreemptionArgs(args: unknown): DefaultPreemptionArgs {
  return defaultPreemptionArguments.read(args);
}

/** Returns what the arguments mean for the scheduler that carries out the preemptions. */
export function limitsOf(args: DefaultPreemptionArgs): PreemptionLimits {
  const { preemptionDelaySeconds, terminationSlackSeconds, maxNominationSeconds, backoffSeconds } = args;
  return {
    delayMs: preemptionDelaySeconds * 1000,
    terminationSlackMs: terminationSlackSeconds * 1000,
    maxWaitMs: maxNominationSeconds * 1000,
    backoff: { initialMs: backoffSeconds.initial * 1000, maxMs: backoffSeconds.max * 1000 },
    keepsBudgets: args.podDisruptionBudgets === 'Enforce',
  };
}
