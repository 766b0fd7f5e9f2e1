import {
  defaultRepairGraceSeconds,
  defaultRepairPolicy,
  podGroupPhases,
  podGroupResource,
  repairPolicies,
} from './pod-group.ts';

/** OpenAPI v3 structural schema, as far as a CustomResourceDefinition of ours needs it. */
export interface StructuralSchema {
  readonly description?: string;
  readonly type?: 'object' | 'array' | 'string' | 'integer';
  readonly format?: 'int32' | 'int64' | 'date-time';
  readonly minimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema;
  readonly items?: StructuralSchema;
  readonly anyOf?: readonly StructuralSchema[];
  readonly 'x-kubernetes-int-or-string'?: true;
  readonly 'x-kubernetes-list-type'?: 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
}

/** What the API server checks of a quantity; `parseQuantity` then reads it exactly. */
const quantityPattern =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';

const quantity: StructuralSchema = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  pattern: quantityPattern,
  'x-kubernetes-int-or-string': true,
};

function count(description: string): StructuralSchema {
  return { description, type: 'integer', format: 'int32' };
}

const condition: StructuralSchema = {
  description: 'One aspect of the group: what is known, why, and since when.',
  type: 'object',
  required: ['lastTransitionTime', 'message', 'reason', 'status', 'type'],
  properties: {
    type: {
      description: 'Scheduled, Started, Ready or Incomplete; other controllers may add types of their own.',
      type: 'string',
      maxLength: 316,
      pattern:
        '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
    },
    status: { description: 'Whether the aspect holds.', type: 'string', enum: ['True', 'False', 'Unknown'] },
    reason: {
      description: 'Why, as one word for programs.',
      type: 'string',
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    },
    message: { description: 'Why, for people.', type: 'string', maxLength: 32768 },
    lastTransitionTime: {
      description: 'When status last changed.',
      type: 'string',
      format: 'date-time',
    },
    observedGeneration: {
      description: 'metadata.generation of the PodGroup from which this was derived.',
      type: 'integer',
      format: 'int64',
      minimum: 0,
    },
  },
};

const spec: StructuralSchema = {
  description: 'What the group needs in order to start. Every field may be changed at any time.',
  type: 'object',
  properties: {
    minMember: {
      description: 'The quorum: this many members start together, or none does. When absent, 1.',
      type: 'integer',
      format: 'int32',
      minimum: 1,
    },
    minResources: {
      description:
        'What the quorum needs in total (not each member). The group is not tried while the cluster has less. A negative amount asks for nothing. When absent, not checked.',
      type: 'object',
      additionalProperties: quantity,
    },
    scheduleTimeoutSeconds: {
      description:
        'How long, in seconds, members may wait for the others once they have been placed. When absent, or 0 and less, as the scheduler is configured.',
      type: 'integer',
      format: 'int32',
    },
    repairPolicy: {
      description:
        'What becomes of a group that never started, is on nodes in part and cannot be completed within repairGraceSeconds. Release: its members are evicted, those alone that a controller makes anew, and within their disruption budgets. KeepTrying: they stay where they are, and the rest comes before all that is new. A group that has started is never released. ' +
        `When absent, ${defaultRepairPolicy}.`,
      type: 'string',
      enum: repairPolicies,
    },
    repairGraceSeconds: {
      description:
        'How long, in seconds, the group may be on nodes in part before repairPolicy applies, and the room of a member that was lost is kept for the one that its owner makes instead. ' +
        `When absent, ${defaultRepairGraceSeconds}.`,
      type: 'integer',
      format: 'int32',
      minimum: 0,
    },
  },
};

const status: StructuralSchema = {
  description: 'What the controller derives from the members. Nobody else should write it.',
  type: 'object',
  properties: {
    phase: {
      // No enum: what another implementation wrote must not make the object unusable.
      description: `A summary in one word: ${podGroupPhases.join(', ')}. Empty until the controller has seen the group.`,
      type: 'string',
    },
    occupiedBy: {
      description:
        'The owners of one member as namespace/name, sorted, joined by commas. Tells who uses the group; enforces nothing.',
      type: 'string',
    },
    running: count('Members in phase Running.'),
    succeeded: count('Members in phase Succeeded.'),
    failed: count('Members in phase Failed.'),
    scheduleStartTime: {
      description: 'Accepted for compatibility; not written.',
      type: 'string',
      format: 'date-time',
    },
    observedGeneration: {
      description: 'metadata.generation of the PodGroup from which this status was derived.',
      type: 'integer',
      format: 'int64',
    },
    members: count('Pods that name the group, in any phase.'),
    scheduled: count(
      'Members that count for the quorum: on a node, neither failed nor being deleted; finished ones once the group has started.',
    ),
    ready: count('Running members whose containers are ready.'),
    conditions: {
      description: 'Scheduled, Started, Ready, Incomplete.',
      type: 'array',
      items: condition,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
  },
};

/** In the condition Scheduled, which says how it stands with the group and why. */
const scheduled = '.status.conditions[?(@.type=="Scheduled")]';

/** What users of scheduler-plugins know, in their order; then how many of how many are on nodes and why not all; and wide since when, and the whole sentence. */
const printerColumns = [
  { jsonPath: '.status.phase', name: 'Phase', type: 'string' },
  { jsonPath: '.spec.minMember', name: 'MinMember', type: 'integer' },
  { jsonPath: '.status.running', name: 'Running', type: 'integer' },
  { jsonPath: '.status.succeeded', name: 'Succeeded', type: 'integer' },
  { jsonPath: '.status.failed', name: 'Failed', type: 'integer' },
  { jsonPath: '.status.scheduled', name: 'Scheduled', type: 'integer' },
  { jsonPath: `${scheduled}.reason`, name: 'Reason', type: 'string' },
  { jsonPath: '.metadata.creationTimestamp', name: 'Age', type: 'date' },
  { jsonPath: '.status.members', name: 'Members', type: 'integer', priority: 1 },
  { jsonPath: '.status.ready', name: 'Ready', type: 'integer', priority: 1 },
  { jsonPath: `${scheduled}.lastTransitionTime`, name: 'Since', type: 'date', priority: 1 },
  { jsonPath: `${scheduled}.message`, name: 'Message', type: 'string', priority: 1 },
] as const;

/**
 * The CustomResourceDefinition of PodGroup: the drop-in one of scheduler-plugins with more status. `crds/` holds it as
 * YAML, made by scripts/generate-crd.ts.
 */
export const podGroupDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${podGroupResource.plural}.${podGroupResource.group}`,
    annotations: {
      // API servers reject a group under k8s.io without a pointer to where it was approved.
      'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/scheduler-plugins/pull/50',
    },
  },
  spec: {
    group: podGroupResource.group,
    names: {
      kind: podGroupResource.kind,
      listKind: podGroupResource.listKind,
      plural: podGroupResource.plural,
      singular: podGroupResource.singular,
      shortNames: podGroupResource.shortNames,
    },
    scope: 'Namespaced',
    versions: [
      {
        name: podGroupResource.version,
        served: true,
        storage: true,
        additionalPrinterColumns: printerColumns,
        schema: {
          openAPIV3Schema: {
            description: 'A set of pods of one namespace that start together or not at all.',
            type: 'object',
            properties: {
              apiVersion: { description: 'Version of the schema.', type: 'string' },
              kind: { description: 'PodGroup.', type: 'string' },
              metadata: { type: 'object' },
              spec,
              status,
            },
          } satisfies StructuralSchema,
        },
        subresources: { status: {} },
      },
    ],
  },
} as const;
