import { qualifiedName } from '../../api/qualified-name.ts';
import type { TopologySpreadConstraint } from '../../api/pod.ts';
import type { ReportProblem } from '../argument-schema.ts';
import { PluginArguments } from '../plugin-arguments.ts';

/** kube-scheduler's PodTopologySpreadArgs. */
export const spreadArguments = new PluginArguments('PodTopologySpread', {
  type: 'object',
  additionalProperties: false,
  properties: {
    defaultConstraints: {
      type: 'array',
      default: [],
      uniqueBy: ['topologyKey', 'whenUnsatisfiable'],
      description:
        'Constraints for pods without their own that a Service or their controller selects. Requires defaultingType List.',
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
          minDomains: { type: 'integer', minimum: 1 },
          nodeAffinityPolicy: { enum: ['Honor', 'Ignore'] },
          nodeTaintsPolicy: { enum: ['Honor', 'Ignore'] },
          matchLabelKeys: { type: 'array', items: { type: 'string' } },
          labelSelector: { rejected: 'must be absent: it is deduced from the services and owners of each pod' },
        },
      },
    },
    defaultingType: {
      enum: ['System', 'List'],
      default: 'System',
      description:
        'System: ScheduleAnyway by hostname with maxSkew 3 and by zone with maxSkew 5. List: defaultConstraints.',
    },
  },
  check: (
    { defaultConstraints, defaultingType }: { defaultConstraints: readonly unknown[]; defaultingType: string },
    report: ReportProblem,
  ) => {
    if (defaultingType === 'System' && defaultConstraints.length > 0) {
      report(['defaultConstraints'], 'must be empty if defaultingType is System; set defaultingType: List to use them');
    }
  },
});

/** Constraints for pods without constraints of their own. */
export interface SpreadDefaults {
  readonly constraints: readonly TopologySpreadConstraint[];
  /** True for the system defaults, which also score nodes without a topology label. */
  readonly isSystem: boolean;
}

/** The defaults of kube-scheduler. */
const systemDefaults: SpreadDefaults = {
  constraints: [
    { topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 3 },
    { topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 5 },
  ],
  isSystem: true,
};

/** Throws PluginArgumentsError. */
export function readSpreadDefaults(args: unknown): SpreadDefaults {
  const { defaultConstraints, defaultingType } = spreadArguments.read(args);
  return defaultingType === 'System' ? systemDefaults : { constraints: defaultConstraints, isSystem: false };
}
