import {
  defaultRepairGraceSeconds,
  defaultRepairPolicy,
  podGroupPhases,
  podGroupResource,
  repairPolicies,
} from './pod-group.ts';

/** The part of OpenAPI v3 structural schemas that Tutti's CRD uses. */
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

/** Pattern by which the API server validates quantities, without the minus sign. `parseQuantity` then parses them exactly. */
const quantityPattern =
  '^\\+?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';

const quantity: StructuralSchema = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  minimum: 0,
  pattern: quantityPattern,
  'x-kubernetes-int-or-string': true,
};

function count(description: string): StructuralSchema {
  return { description, type: 'integer', format: 'int32' };
}

const condition: StructuralSchema = {
  description: 'One aspect of the state of the group.',
  type: 'object',
  required: ['lastTransitionTime', 'message', 'reason', 'status', 'type'],
  properties: {
    type: {
      description:
        'Scheduled, Started, Ready, Incomplete, SpecAccepted or RepairGraceLimited. Other controllers may add their own types.',
      type: 'string',
      maxLength: 316,
      pattern:
        '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
    },
    status: { description: 'Status of the condition.', type: 'string', enum: ['True', 'False', 'Unknown'] },
    reason: {
      description: 'Reason for the status, as one word for programs.',
      type: 'string',
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    },
    message: { description: 'Reason for the status, for people.', type: 'string', maxLength: 32768 },
    lastTransitionTime: {
      description: 'Time of the last change of status.',
      type: 'string',
      format: 'date-time',
    },
    observedGeneration: {
      description: 'metadata.generation of the PodGroup from which the controller derived the condition.',
      type: 'integer',
      format: 'int64',
      minimum: 0,
    },
  },
};

const spec: StructuralSchema = {
  description: 'Requirements of the group. You can change every field at any time.',
  type: 'object',
  properties: {
    minMember: {
      description:
        'The quorum: the minimum number of members that start together. If fewer fit, none starts. Defaults to 1.',
      type: 'integer',
      format: 'int32',
      minimum: 1,
    },
    minResources: {
      description:
        'Total resources of the quorum, not of each member. The scheduler does not try the group while the cluster has less. If absent, the scheduler does not check the total.',
      type: 'object',
      additionalProperties: quantity,
    },
    scheduleTimeoutSeconds: {
      description:
        'How long, in seconds, placed members may wait for the others. If absent or 0, the configuration of the scheduler applies.',
      type: 'integer',
      format: 'int32',
      minimum: 0,
    },
    repairPolicy: {
      description:
        'What happens to a partially bound group that never started and cannot be completed within repairGraceSeconds. Release: Tutti evicts its members, but only members that a controller recreates, and within their disruption budgets. KeepTrying: the members stay bound, and the scheduler tries the rest before new work. Tutti never releases a group that has started. ' +
        `Defaults to ${defaultRepairPolicy}.`,
      type: 'string',
      enum: repairPolicies,
    },
    repairGraceSeconds: {
      description:
        'How long, in seconds, the group may stay partially bound before repairPolicy applies, and how long the scheduler reserves capacity for the replacement of a lost member. The administrator sets a maximum, 5 minutes by default, which applies instead of a larger value. ' +
        `Defaults to ${defaultRepairGraceSeconds}.`,
      type: 'integer',
      format: 'int32',
      minimum: 0,
    },
  },
};

const status: StructuralSchema = {
  description: 'Status that the controller derives from the members. Only the controller should write it.',
  type: 'object',
  properties: {
    phase: {
      // No enum: a phase of another implementation must not make the object invalid.
      description: `Summary in one word: ${podGroupPhases.join(', ')}. Empty until the controller has seen the group.`,
      type: 'string',
    },
    occupiedBy: {
      description:
        'Owners of one member as namespace/name, sorted and joined by commas. Shows which workload uses the group. It is informational only.',
      type: 'string',
    },
    running: count('Members in phase Running.'),
    succeeded: count('Members in phase Succeeded.'),
    failed: count('Members in phase Failed.'),
    scheduleStartTime: {
      description: 'Accepted for compatibility. Tutti does not write it.',
      type: 'string',
      format: 'date-time',
    },
    observedGeneration: {
      description: 'metadata.generation of the PodGroup from which the controller derived the status.',
      type: 'integer',
      format: 'int64',
    },
    members: count('Pods of the group, in any phase.'),
    scheduled: count(
      'Members that count towards the quorum: bound, not failed and not being deleted. Succeeded members count once the group has started.',
    ),
    ready: count('Running members that are ready.'),
    predictedStartTime: {
      description:
        'Latest time at which the group should start, while the scheduler reserves capacity for it. Absent without a reservation, and while the time is unknown because it depends on pods that declare no end.',
      type: 'string',
      format: 'date-time',
    },
    startConfidence: {
      // No enum: an older CRD must not reject a status with a value that is new.
      description:
        'What the predicted start is based on. Declared: the declared ends of all pods that must end first. Estimated: also the run times of earlier pods of the same owners. Draining: the group waits until nodes are empty on which pods run that declare no end.',
      type: 'string',
    },
    conditions: {
      description:
        'Scheduled, Started, Ready, Incomplete, SpecAccepted if a field has no effect, and RepairGraceLimited if the grace is limited.',
      type: 'array',
      items: condition,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
  },
};

/** JSON path of the condition Scheduled, which shows the state of the group and the reason. */
const scheduled = '.status.conditions[?(@.type=="Scheduled")]';

/**
 * The columns of scheduler-plugins in their order, with the scheduled members and the reason. Those that everyone needs fit 80 columns; `-o wide`
 * shows all of them.
 */
const printerColumns = [
  { jsonPath: '.status.phase', name: 'Phase', type: 'string' },
  { jsonPath: '.spec.minMember', name: 'MinMember', type: 'integer' },
  { jsonPath: '.status.running', name: 'Running', type: 'integer', priority: 1 },
  { jsonPath: '.status.succeeded', name: 'Succeeded', type: 'integer', priority: 1 },
  { jsonPath: '.status.failed', name: 'Failed', type: 'integer', priority: 1 },
  { jsonPath: '.status.scheduled', name: 'Scheduled', type: 'integer' },
  { jsonPath: `${scheduled}.reason`, name: 'Reason', type: 'string' },
  { jsonPath: '.metadata.creationTimestamp', name: 'Age', type: 'date' },
  { jsonPath: '.status.members', name: 'Members', type: 'integer', priority: 1 },
  { jsonPath: '.status.ready', name: 'Ready', type: 'integer', priority: 1 },
  { jsonPath: `${scheduled}.lastTransitionTime`, name: 'Since', type: 'date', priority: 1 },
  { jsonPath: `${scheduled}.message`, name: 'Message', type: 'string', priority: 1 },
] as const;

/**
 * The PodGroup CRD: a drop-in replacement for the CRD of scheduler-plugins, with more status fields. scripts/generate-crd.ts writes it as
 * YAML to `crds/`.
 */
export const podGroupDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${podGroupResource.plural}.${podGroupResource.group}`,
    annotations: {
      // API servers reject a group under k8s.io without a link to its approval.
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
            description: 'A set of pods in one namespace that start all together or not at all.',
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
