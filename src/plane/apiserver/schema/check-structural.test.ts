import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject } from '../json.ts';
import { checkStructural } from './check-structural.ts';

const shown = (schema: unknown): string[] => checkStructural(schema).map((error) => `${error.field}: ${error.message}`);
const withField = (field: JsonObject): JsonObject => ({ type: 'object', properties: { f: field } });

describe('the schema of a CustomResourceDefinition', () => {
  test("Tutti's own definitions are structural", () => {
    const definition = parse(readFileSync('crds/scheduling.x-k8s.io_podgroups.yaml', 'utf8')) as {
      spec: { versions: { schema: { openAPIV3Schema: JsonObject } }[] };
    };
    expect(shown(definition.spec.versions[0]!.schema.openAPIV3Schema)).toEqual([]);
  });

  test('CEL rules are refused, not ignored', () => {
    const errors = checkStructural(withField({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 0' }] }));
    expect(errors).toMatchObject([
      { field: 'openAPIV3Schema.properties[f].x-kubernetes-validations', reason: 'FieldValueForbidden' },
    ]);
    expect(errors[0]?.message).toContain('CEL validation rules are not supported');
  });

  test.each<[unknown, string]>([
    ['text', 'openAPIV3Schema: Invalid value: "text": must be a schema'],
    [{}, 'openAPIV3Schema.type: Required value: must not be empty at the root'],
    [{ type: 'string' }, 'openAPIV3Schema.type: Invalid value: "string": must be object at the root'],
    [
      withField({}),
      'openAPIV3Schema.properties[f].type: Required value: must not be empty for specified object fields',
    ],
    [withField({ type: 'text' }), 'openAPIV3Schema.properties[f].type: Unsupported value: "text"'],
    [withField({ type: 'array' }), 'openAPIV3Schema.properties[f].items: Required value: must be specified for arrays'],
    [withField({ type: 'string', $ref: '#/x' }), 'openAPIV3Schema.properties[f].$ref: Forbidden'],
    [withField({ type: 'string', pattern: '(' }), 'openAPIV3Schema.properties[f].pattern: Invalid value: "("'],
    [withField({ type: 'string', minLength: -1 }), 'openAPIV3Schema.properties[f].minLength: Invalid value: -1'],
    [
      withField({ type: 'string', 'x-kubernetes-int-or-string': true }),
      'openAPIV3Schema.properties[f].type: Forbidden',
    ],
    [
      withField({ type: 'object', properties: {}, additionalProperties: { type: 'string' } }),
      'openAPIV3Schema.properties[f].additionalProperties: Forbidden: additionalProperties and properties are mutually exclusive',
    ],
    [
      withField({ type: 'string', anyOf: [{ type: 'string' }] }),
      'openAPIV3Schema.properties[f].anyOf[0].type: Forbidden: must not be set inside allOf, anyOf, oneOf or not',
    ],
    [
      withField({ type: 'object', not: { properties: { g: { enum: [1] } } } }),
      'openAPIV3Schema.properties[f].properties[g]: Required value: because it is defined in openAPIV3Schema.properties[f].not.properties[g]',
    ],
    [withField({ type: 'integer', minimum: 1, default: 0 }), 'openAPIV3Schema.properties[f].default: Invalid value: 0'],
    [
      withField({ type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' }),
      'openAPIV3Schema.properties[f].x-kubernetes-list-map-keys: Required value',
    ],
  ])('%j is refused', (schema, problem) => {
    const errors = shown(schema);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(problem);
  });
});
