import { ensureObject, objectAt } from '../access.ts';
import { textColumn } from '../column.ts';
import { fillConditionTimes } from '../condition-times.ts';
import type { ResourceType } from '../resource-type.ts';
import { applyTemplateDefaults, validateTemplate } from './pod-template.ts';
import { count, workload } from './workload.ts';

/** Stored, and not acted on: no controller makes pods of it. */
export const replicaSets: ResourceType = workload({
  kind: 'ReplicaSet',
  shortName: 'rs',
  columns: [
    { ...textColumn('Desired', (object) => count(objectAt(object, 'spec')?.replicas)), type: 'integer' },
    { ...textColumn('Current', (object) => count(objectAt(object, 'status')?.replicas)), type: 'integer' },
    { ...textColumn('Ready', (object) => count(objectAt(object, 'status')?.readyReplicas)), type: 'integer' },
  ],
  behaviour: {
    applyDefaults: (object) => {
      applyTemplateDefaults(object);
      fillConditionTimes(objectAt(object, 'status'), ['lastTransitionTime']);
      ensureObject(object, 'status').replicas ??= 0;
    },
    validate: validateTemplate,
  },
});
