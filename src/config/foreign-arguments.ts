import type { ReportProblem } from '../plugins/argument-schema.ts';
import { PluginArguments } from '../plugins/plugin-arguments.ts';

const defaultPreemption = new PluginArguments('DefaultPreemption', {
  type: 'object',
  additionalProperties: false,
  properties: {
    minCandidateNodesPercentage: { type: 'integer', minimum: 0, maximum: 100, default: 10 },
    minCandidateNodesAbsolute: { type: 'integer', minimum: 0, default: 100 },
  },
  check: (
    args: { readonly minCandidateNodesPercentage: number; readonly minCandidateNodesAbsolute: number },
    report: ReportProblem,
  ) => {
    if (args.minCandidateNodesPercentage > 0 || args.minCandidateNodesAbsolute > 0) return;
    report(['minCandidateNodesAbsolute'], 'must be at least 1 if minCandidateNodesPercentage is 0');
  },
});

/**
 * plugin -> parser of its arguments, by kube-scheduler's rules, for plugins of kube-scheduler that Tutti does not have. A file is
 * validated completely, although these arguments have no effect.
 */
export const foreignArguments: ReadonlyMap<string, { read(args: unknown): unknown }> = new Map(
  [defaultPreemption].map((each) => [each.plugin, each as { read(args: unknown): unknown }]),
);
