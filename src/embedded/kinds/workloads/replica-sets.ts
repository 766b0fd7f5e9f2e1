import { ensureObject, objectAt } from '../access.ts';
import { builtIn } from '../built-in.ts';
import { ageColumn, nameColumn, textColumn } from '../column.ts';
import { fillConditionTimes } from '../condition-times.ts';
import { statusSubresource } from '../resource-type.ts';
import type { ResourceType } from '../resource-type.ts';
import { count, selectorIsFixed } from './deployments.ts';
import { applyTemplateDefaults, templateColumns, validateTemplate } from './pod-template.ts';

const replicaSet = { group: 'apps', version: 'v1', kind: 'ReplicaSet' };

/** Stored, and not acted on: no controller makes pods of it. */
export const replicaSets: ResourceType = builtIn({
  ...replicaSet,
  plural: 'replicasets',
  shortNames: ['rs'],
  categories: ['all'],
  namespaced: true,
  model: 'V1ReplicaSet',
  subresources: [statusSubresource(replicaSet)],
  columns: [
    nameColumn,
    { ...textColumn('Desired', (object) => count(objectAt(object, 'spec')?.replicas)), type: 'integer' },
    { ...textColumn('Current', (object) => count(objectAt(object, 'status')?.replicas)), type: 'integer' },
    { ...textColumn('Ready', (object) => count(objectAt(object, 'status')?.readyReplicas)), type: 'integer' },
    ageColumn,
    ...templateColumns,
  ],
  behaviour: {
    generation: 'spec',
    applyDefaults: (object) => {
      applyTemplateDefaults(object);
      fillConditionTimes(objectAt(object, 'status'), ['lastTransitionTime']);
      ensureObject(object, 'status').replicas ??= 0;
    },
    validate: validateTemplate,
    validateUpdate: selectorIsFixed,
  },
});
