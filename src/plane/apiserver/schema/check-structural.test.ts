import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject, JsonValue } from '../json.ts';
import { checkStructural } from './check-structural.ts';

const shown = (schema: JsonValue): string[] =>
  checkStructural(schema).map((error) => `${error.field}: ${error.message}`);
const withField = (field: JsonObject): JsonObject => ({ type: 'object', properties: { f: field } });

describe('the schema of a CustomResourceDefinition', () => {
  test("of Tutti's PodGroup CRD is structural", () => {
    const definition = parse(readFileSync('crds/scheduling.x-k8s.io_podgroups.yaml', 'utf8')) as {
      spec: { versions: { schema: { openAPIV3Schema: JsonObject } }[] };
    };
    expect(shown(definition.spec.versions[0]!.schema.openAPIV3Schema)).toEqual([]);
  });

  test('is rejected if it has CEL rules', () => {
    const errors = checkStructural(withField({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 0' }] }));
    expect(errors).toMatchObject([
      { field: 'openAPIV3Schema.properties.f.x-kubernetes-validations', reason: 'FieldValueForbidden' },
    ]);
    expect(errors[0]?.message).toContain('CEL validation rules are not supported');
  });

  test.each<[JsonValue, string]>([
    ['text', 'openAPIV3Schema: Invalid value: "string": openAPIV3Schema in body must be of type object'],
    [{}, 'openAPIV3Schema.type: Required value'],
    [withField({}), 'openAPIV3Schema.properties.f.type: Required value'],
    [{ type: 'string' }, 'openAPIV3Schema.type: Required value: must be object at the root'],
    [withField({ type: 'text' }), 'openAPIV3Schema.properties.f.type: Invalid value: "text"'],
    [withField({ type: 'string', $ref: '#/x' }), 'openAPIV3Schema.properties.f.$ref: Forbidden: not supported'],
    [
      withField({ type: 'string', pattern: '(' }),
      'openAPIV3Schema.properties.f.pattern: Invalid value: "(": must be a valid regular expression',
    ],
    [withField({ type: 'array' }), 'openAPIV3Schema.properties.f.items: Required value: must be specified'],
    [
      withField({ type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' }),
      'openAPIV3Schema.properties.f.x-kubernetes-list-map-keys: Required value',
    ],
    [withField({ type: 'string', minLength: -1 }), 'openAPIV3Schema.properties.f.minLength: Invalid value: -1'],
    [
      withField({ type: 'object', additionalProperties: { type: 'integer', minimum: 'a' } }),
      'openAPIV3Schema.properties.f.additionalProperties.minimum: Invalid value: "a"',
    ],
    [withField({ type: 'string', anyOf: [{ nope: 1 }] }), 'openAPIV3Schema.properties.f.anyOf.nope: Forbidden'],
    [withField({ type: 'string', not: {} }), 'openAPIV3Schema.properties.f.not: Forbidden: not supported'],
    [
      withField({ type: 'integer', multipleOf: 2 }),
      'openAPIV3Schema.properties.f.multipleOf: Forbidden: not supported',
    ],
    [
      withField({ type: 'object', additionalProperties: false }),
      'openAPIV3Schema.properties.f.additionalProperties: Invalid value: false',
    ],
  ])('is rejected: %j', (schema, problem) => {
    const errors = shown(schema);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(problem);
  });
});
