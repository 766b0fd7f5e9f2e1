import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { builtIn } from './built-in.ts';
import { objectAt } from './access.ts';
import { ageColumn, nameColumn, textColumn } from './column.ts';
import { invalidDataKeys, validateImmutableData } from './config-data.ts';
import { duplicateValue } from './field-rules.ts';
import type { ResourceType } from './resource-type.ts';

export const serviceAccounts: ResourceType = builtIn({
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  shortNames: ['sa'],
  namespaced: true,
  model: 'V1ServiceAccount',
  behaviour: { returnsDeleted: true },
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
  behaviour: {
    validate: validateConfigMap,
    validateUpdate: (map, previous) => validateImmutableData(map, previous, ['data', 'binaryData']),
  },
});

function validateConfigMap(map: JsonObject): StatusCause[] {
  const data = objectAt(map, 'data') ?? {};
  const binary = objectAt(map, 'binaryData') ?? {};
  const doubled = Object.keys(binary)
    .filter((key) => Object.hasOwn(data, key))
    .map((key) => duplicateValue(`data[${key}]`, key));
  return [...invalidDataKeys(data, 'data'), ...invalidDataKeys(binary, 'binaryData'), ...doubled];
}
