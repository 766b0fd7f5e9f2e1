import { qualifiedName } from '../api/qualified-name.ts';
import type { ReportProblem } from '../plugins/argument-schema.ts';
import { PluginArguments } from '../plugins/plugin-arguments.ts';
import { utilizationShape } from '../plugins/utilization-shape.ts';

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

const interPodAffinity = new PluginArguments('InterPodAffinity', {
  type: 'object',
  additionalProperties: false,
  properties: {
    hardPodAffinityWeight: { type: 'integer', minimum: 0, maximum: 100, default: 1 },
    ignorePreferredTermsOfExistingPods: { type: 'boolean', default: false },
  },
});

const podTopologySpread = new PluginArguments('PodTopologySpread', {
  type: 'object',
  additionalProperties: false,
  properties: {
    defaultConstraints: {
      type: 'array',
      uniqueBy: ['topologyKey', 'whenUnsatisfiable'],
      default: [],
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['maxSkew', 'topologyKey', 'whenUnsatisfiable'],
        properties: {
          maxSkew: { type: 'integer', minimum: 1 },
          topologyKey: {
            type: 'string',
            pattern: `^${qualifiedName}$`,
            mustBe: 'a label such as "topology.kubernetes.io/zone"',
          },
          whenUnsatisfiable: { enum: ['DoNotSchedule', 'ScheduleAnyway'] },
          labelSelector: { refused: 'must be absent: it is made from the services and owners of each pod' },
          minDomains: { type: 'integer', minimum: 1 },
          nodeAffinityPolicy: { enum: ['Honor', 'Ignore'] },
          nodeTaintsPolicy: { enum: ['Honor', 'Ignore'] },
          matchLabelKeys: { type: 'array', items: { type: 'string' } },
        },
      },
    },
    defaultingType: { enum: ['System', 'List'], default: 'System' },
  },
  check: (
    args: { readonly defaultConstraints: readonly unknown[]; readonly defaultingType: string },
    report: ReportProblem,
  ) => {
    if (args.defaultingType === 'System' && args.defaultConstraints.length > 0) {
      report(
        ['defaultConstraints'],
        'must be empty where defaultingType is System; write defaultingType: List to use them',
      );
    }
  },
});

const volumeBinding = new PluginArguments('VolumeBinding', {
  type: 'object',
  additionalProperties: false,
  properties: {
    bindTimeoutSeconds: { type: 'integer', minimum: 0, default: 600 },
    shape: utilizationShape,
  },
});

/**
 * The arguments of kube-scheduler's plugins that Tutti does not have, by kube-scheduler's rules: plugin -> how they are read. A
 * file is checked whole, though nothing becomes of them.
 */
export const foreignArguments: ReadonlyMap<string, { read(args: unknown): unknown }> = new Map(
  [defaultPreemption, interPodAffinity, podTopologySpread, volumeBinding].map((each) => [
    each.plugin,
    each as { read(args: unknown): unknown },
  ]),
);
