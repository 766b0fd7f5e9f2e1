import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { builtIn } from './built-in.ts';
import { objectAt } from './access.ts';
import { ageColumn, nameColumn, textColumn } from './column.ts';
import { deepEqual } from '../deep-equal.ts';
import { duplicateValue, fieldForbidden } from './field-rules.ts';
import type { ResourceType } from './resource-type.ts';

export const serviceAccounts: ResourceType = builtIn({
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  shortNames: ['sa'],
  namespaced: true,
  model: 'V1ServiceAccount',
  behaviour: { returnsDeleted: true, updateNeedsVersion: true },
});

export const configMaps: ResourceType = builtIn({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  shortNames: ['cm'],
  namespaced: true,
  model: 'V1ConfigMap',
  columns: [
    nameColumn,
    textColumn(
      'Data',
      (map) => Object.keys(objectAt(map, 'data') ?? {}).length + Object.keys(objectAt(map, 'binaryData') ?? {}).length,
    ),
    ageColumn,
  ],
  behaviour: { validate: validateConfigMap, validateUpdate: validateConfigMapUpdate },
});

function validateConfigMap(map: JsonObject): StatusCause[] {
  const data = objectAt(map, 'data') ?? {};
  return Object.keys(objectAt(map, 'binaryData') ?? {})
    .filter((key) => Object.hasOwn(data, key))
    .map((key) => duplicateValue(`data[${key}]`, key));
}

function validateConfigMapUpdate(map: JsonObject, previous: JsonObject): StatusCause[] {
  if (previous.immutable !== true) return [];
  return ['immutable', 'data', 'binaryData']
    .filter((field) => !deepEqual(map[field], previous[field]))
    .map((field) => fieldForbidden(field, 'field is immutable when `immutable` is set'));
}
