import type { JsonObject } from '../../json.ts';
import type { StatusCause } from '../../http/api-error.ts';
import { ensureObject, metadataOf, objectAt } from '../access.ts';
import { builtIn } from '../built-in.ts';
import { ageColumn, nameColumn, textColumn } from '../column.ts';
import { fillConditionTimes } from '../condition-times.ts';
import { invalidValue, required } from '../field-rules.ts';
import { statusSubresource } from '../resource-type.ts';
import type { ResourceType } from '../resource-type.ts';
import { applyTemplateDefaults } from './pod-template.ts';
import { count } from './workload.ts';

const version = { group: '', version: 'v1', kind: 'ReplicationController' };

/** Stored, and not acted on: no controller makes pods of it. */
export const replicationControllers: ResourceType = builtIn({
  ...version,
  plural: 'replicationcontrollers',
  shortNames: ['rc'],
  categories: ['all'],
  namespaced: true,
  model: 'V1ReplicationController',
  subresources: [statusSubresource(version)],
  columns: [
    nameColumn,
    { ...textColumn('Desired', (object) => count(objectAt(object, 'spec')?.replicas)), type: 'integer' },
    { ...textColumn('Current', (object) => count(objectAt(object, 'status')?.replicas)), type: 'integer' },
    { ...textColumn('Ready', (object) => count(objectAt(object, 'status')?.readyReplicas)), type: 'integer' },
    ageColumn,
  ],
  behaviour: {
    generation: 'spec',
    applyDefaults: (object) => {
      applyTemplateDefaults(object);
      const spec = ensureObject(object, 'spec');
      const labels = objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels');
      // One that says neither takes its template's labels for both.
      if (labels !== undefined) {
        spec.selector ??= { ...labels };
        metadataOf(object).labels ??= { ...labels };
      }
      const status = ensureObject(object, 'status');
      fillConditionTimes(status, ['lastTransitionTime']);
      status.replicas ??= 0;
    },
    validate: validateController,
  },
});

function validateController(object: JsonObject): StatusCause[] {
  const spec = objectAt(object, 'spec') ?? {};
  const selector = objectAt(spec, 'selector') ?? {};
  const labels = objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels') ?? {};
  const causes: StatusCause[] = [];
  if (Number(spec.replicas) < 0) {
    causes.push(invalidValue('spec.replicas', spec.replicas!, 'must be greater than or equal to 0'));
  }
  if (Object.keys(selector).length === 0) causes.push(required('spec.selector'));
  if (Object.entries(selector).some(([key, value]) => labels[key] !== value)) {
    causes.push(invalidValue('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  }
  return causes;
}
