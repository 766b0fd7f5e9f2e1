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
  /** Maximum number of plans in one search for victims. */
  readonly maxPlans: number;
}

export const defaultPreemptionArguments = new PluginArguments('DefaultPreemption', {
  type: 'object',
  additionalProperties: false,
  properties: {
    minCandidateNodesPercentage: { type: 'integer', minimum: 0, maximum: 100, default: 10 },
    minCandidateNodesAbsolute: { type: 'integer', minimum: 0, default: 100 },
    minRuntimeSeconds: { type: 'integer', minimum: 0, default: 0 },
    protectedPriorityAtLeast: { type: 'integer' },
    maxPlans: { type: 'integer', minimum: 1, default: 40 },
  },
  check: (
    args: { readonly minCandidateNodesPercentage: number; readonly minCandidateNodesAbsolute: number },
    report: ReportProblem,
  ) => {
    if (args.minCandidateNodesPercentage > 0 || args.minCandidateNodesAbsolute > 0) return;
    report(['minCandidateNodesAbsolute'], 'must be at least 1 if minCandidateNodesPercentage is 0');
  },
});

/** Reads the arguments and fills in defaults. Throws PluginArgumentsError. */
export function readDefaultPreemptionArgs(args: unknown): DefaultPreemptionArgs {
  return defaultPreemptionArguments.read(args);
}
