import { parseDuration } from '../base/parse-duration.ts';
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

const balancedAllocation = new PluginArguments('NodeResourcesBalancedAllocation', {
  type: 'object',
  additionalProperties: false,
  properties: {
    resources: {
      type: 'array',
      uniqueBy: ['name'],
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: {
          name: { type: 'string', minLength: 1, mustBe: 'a resource name such as "cpu"' },
          // 0 counts as absent
          weight: { type: 'integer', minimum: 0, maximum: 1, default: 1, mustBe: '1, for all resources count alike' },
        },
      },
    },
  },
});

const volumeBinding = new PluginArguments('VolumeBinding', {
  type: 'object',
  additionalProperties: false,
  properties: {
    bindTimeoutSeconds: { type: 'integer', minimum: 0, default: 600 },
    shape: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['utilization', 'score'],
        properties: {
          utilization: { type: 'integer', minimum: 0, maximum: 100 },
          score: { type: 'integer', minimum: 0, maximum: 10 },
        },
      },
      check: (shape: readonly { readonly utilization: number }[], report: ReportProblem) => {
        for (const [index, { utilization }] of shape.entries()) {
          const before = shape[index - 1]?.utilization ?? -1;
          if (utilization > before) continue;
          report(
            [index, 'utilization'],
            `must be greater than ${before}, that of the point before it, not ${utilization}`,
          );
        }
      },
    },
  },
});

const dynamicResources = new PluginArguments('DynamicResources', {
  type: 'object',
  additionalProperties: false,
  properties: {
    filterTimeout: timeout('a duration such as 10s', 0),
    bindingTimeout: timeout('a duration of at least 1s', 1_000),
  },
});

function timeout(mustBe: string, leastMs: number) {
  return {
    type: 'string',
    mustBe,
    check: (text: string, report: ReportProblem) => {
      const given = parseDuration(text);
      if (given === undefined || given < leastMs) report([], `must be ${mustBe}, not ${JSON.stringify(text)}`);
    },
  } as const;
}

/**
 * The arguments of kube-scheduler's plugins that Tutti does not have, by kube-scheduler's rules: plugin -> how they are read. A
 * file is checked whole, though nothing becomes of them.
 */
export const foreignArguments: ReadonlyMap<string, { read(args: unknown): unknown }> = new Map(
  [defaultPreemption, balancedAllocation, volumeBinding, dynamicResources].map((each) => [
    each.plugin,
    each as { read(args: unknown): unknown },
  ]),
);
