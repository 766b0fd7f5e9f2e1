import type { JsonObject } from '../../json.ts';
import { objectAt, valueAt } from '../access.ts';
import { builtIn } from '../built-in.ts';
import type { BuiltInKind } from '../built-in.ts';
import { fieldColumn, textColumn } from '../column.ts';
import type { Column } from '../column.ts';
import type { ResourceType } from '../resource-type.ts';
import { applyPodTemplateDefaults, validateTemplate } from './pod-template.ts';

const readyColumn: Column = textColumn(
  'Ready',
  (object) => `${Number(valueAt(object, 'status.readyReplicas') ?? 0)}/${Number(valueAt(object, 'spec.replicas'))}`,
);

/** The kinds of the group `apps` that keep a number of pods running. Their controllers are clients of the server. */
const kinds: readonly (Pick<BuiltInKind, 'kind' | 'shortNames' | 'columns' | 'values'> & {
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
})[] = [
  {
    kind: 'Deployment',
    shortNames: ['deploy'],
    columns: [
      readyColumn,
      fieldColumn('Up-to-date', 'status.updatedReplicas', 0),
      fieldColumn('Available', 'status.availableReplicas', 0),
    ],
    spec: { revisionHistoryLimit: 10, progressDeadlineSeconds: 600, strategy: { type: 'RollingUpdate' } },
    values: { 'spec.strategy.type': ['Recreate', 'RollingUpdate'] },
  },
  {
    kind: 'ReplicaSet',
    shortNames: ['rs'],
    columns: [
      fieldColumn('Desired', 'spec.replicas', 0),
      fieldColumn('Current', 'status.replicas', 0),
      fieldColumn('Ready', 'status.readyReplicas', 0),
    ],
    status: { replicas: 0 },
  },
  {
    kind: 'StatefulSet',
    shortNames: ['sts'],
    columns: [readyColumn],
    spec: {
      podManagementPolicy: 'OrderedReady',
      revisionHistoryLimit: 10,
      updateStrategy: { type: 'RollingUpdate' },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    },
    status: { replicas: 0, availableReplicas: 0 },
  },
];

export const replicaWorkloads: readonly ResourceType[] = kinds.map(({ spec = {}, status = {}, ...kind }) =>
  builtIn({
    ...kind,
    group: 'apps',
    categories: ['all'],
    hasStatus: true,
    subresources: [
      { name: 'scale', kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: ['get', 'patch', 'update'] },
    ],
    defaults: { spec: { replicas: 1, ...spec }, status },
    immutable: ['spec.selector'],
    behavior: {
      generation: 'spec',
      applyDefaults: (object) => applyPodTemplateDefaults(objectAt(object, 'spec')!),
      validate: validateTemplate,
    },
  }),
);
