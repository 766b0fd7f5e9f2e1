import { Buffer } from 'node:buffer';
import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { ensureObject, objectAt, textAt } from './access.ts';
import { builtIn } from './built-in.ts';
import { ageColumn, nameColumn, textColumn } from './column.ts';
import { invalidDataKeys, validateImmutableData } from './config-data.ts';
import { deepEqual } from '../deep-equal.ts';
import { invalidValue, required } from './field-rules.ts';
import type { ResourceType } from './resource-type.ts';

const dataLimitBytes = 1024 * 1024;

/** Type of a secret -> keys that its data must have. */
const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

export const secrets: ResourceType = builtIn({
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
  model: 'V1Secret',
  columns: [
    nameColumn,
    textColumn('Type', (secret) => textAt(secret, 'type')),
    { ...textColumn('Data', (secret) => Object.keys(objectAt(secret, 'data') ?? {}).length) },
    ageColumn,
  ],
  selectableFields: { type: (secret) => textAt(secret, 'type') },
  behaviour: {
    applyDefaults: (secret) => {
      secret.type ??= 'Opaque';
      // A short way to write data, for writing only.
      const texts = objectAt(secret, 'stringData');
      delete secret.stringData;
      for (const [key, text] of Object.entries((texts ?? {}) as Record<string, string>)) {
        ensureObject(secret, 'data')[key] = Buffer.from(text).toString('base64');
      }
    },
    validate: validateSecret,
    validateUpdate: (secret, previous) => [
      ...(deepEqual(secret.type, previous.type) ? [] : [invalidValue('type', secret.type!, 'field is immutable')]),
      ...validateImmutableData(secret, previous, ['data']),
    ],
  },
});

function validateSecret(secret: JsonObject): StatusCause[] {
  const data = objectAt(secret, 'data') ?? {};
  const causes = invalidDataKeys(data, 'data');
  const size = Object.keys(data).reduce((sum, key) => sum + Buffer.byteLength(textAt(data, key), 'base64'), 0);
  if (size > dataLimitBytes) {
    causes.push({
      field: 'data',
      reason: 'FieldValueTooLong',
      message: `Too long: may not be more than ${dataLimitBytes} bytes`,
    });
  }
  for (const key of requiredKeys[textAt(secret, 'type')] ?? []) {
    if (!Object.hasOwn(data, key)) causes.push(required(`data[${key}]`));
  }
  return causes;
}
