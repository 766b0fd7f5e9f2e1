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
    report(['minCandidateNodesAbsolute'], 'must be at least 1 where minCandidateNodesPercentage is 0');
  },
});

/**
 * The arguments of kube-scheduler's plugins that Tutti does not have, by kube-scheduler's rules: plugin -> how they are read. A
 * file is checked whole, though nothing becomes of them.
 */
export const foreignArguments: ReadonlyMap<string, { read(args: unknown): unknown }> = new Map(
  [defaultPreemption].map((each) => [each.plugin, each as { read(args: unknown): unknown }]),
);
