import { describe, expect, test, vi } from 'vitest';
import type { JsonObject, JsonValue } from '../json.ts';
import type { FieldError } from './field-error.ts';
import { Patterns } from './patterns.ts';
import { StepLimit, StepLimitError } from './step-limit.ts';
import { validateStructural } from './validate-structural.ts';

const validate = (value: JsonValue, schema: JsonObject, path = ''): FieldError[] =>
  validateStructural(value, schema, path, new Patterns(), new StepLimit());
const shown = (value: JsonValue, schema: JsonObject, path = 'spec.x'): string[] =>
  validate(value, schema, path).map((error) => `${error.reason} ${error.field}: ${error.message}`);

test('each pattern applies to its own field', () => {
  const schema = {
    type: 'object',
    properties: {
      a: { type: 'string', pattern: '^a+$' },
      b: { type: 'string', pattern: '^b+$' },
      c: { type: 'object', additionalProperties: { type: 'string', pattern: 'c' } },
    },
  };
  expect(validate({ a: 'aa', b: 'bb', c: { x: 'xcx' } }, schema)).toEqual([]);
  expect(validate({ a: 'b', b: 'a', c: { x: 'x' } }, schema).map(({ field }) => field)).toEqual(['a', 'b', 'c.x']);
});

describe('validation of custom resources', () => {
  test('reports minMember 0 of a PodGroup with the message of kube-apiserver', () => {
    const schema = {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { minMember: { type: 'integer', format: 'int32', minimum: 1 } } },
      },
    };
    expect(validate({ spec: { minMember: 0 } }, schema)).toEqual([
      {
        field: 'spec.minMember',
        reason: 'FieldValueInvalid',
        message: 'Invalid value: 0: spec.minMember in body should be greater than or equal to 1',
      },
    ]);
    expect(validate({ spec: { minMember: 3 } }, schema)).toEqual([]);
    expect(validate({ spec: { minMember: '3' } }, schema)).toEqual([
      {
        field: 'spec.minMember',
        reason: 'FieldValueTypeInvalid',
        message: 'Invalid value: "string": spec.minMember in body must be of type integer: "string"',
      },
    ]);
  });

  const rejections: readonly [JsonObject, JsonValue, string][] = [
    [
      { type: 'integer' },
      1.5,
      'FieldValueTypeInvalid spec.x: Invalid value: "number": spec.x in body must be of type integer: "number"',
    ],
    [
      { type: 'string' },
      null,
      'FieldValueTypeInvalid spec.x: Invalid value: "null": spec.x in body must be of type string: "null"',
    ],
    [
      { type: 'string', enum: ['a', 'b'] },
      'c',
      'FieldValueNotSupported spec.x: Unsupported value: "c": supported values: "a", "b"',
    ],
    [
      { type: 'integer', format: 'int32' },
      2 ** 31,
      'FieldValueInvalid spec.x: Invalid value: 2147483648: spec.x in body must be of type int32: 2147483648',
    ],
    [
      { type: 'string', format: 'date-time' },
      'now',
      'FieldValueInvalid spec.x: Invalid value: "now": spec.x in body must be of type date-time: "now"',
    ],
    [
      { type: 'integer', maximum: 1 },
      2,
      'FieldValueInvalid spec.x: Invalid value: 2: spec.x in body should be less than or equal to 1',
    ],
    [
      { type: 'string', minLength: 2 },
      'é',
      'FieldValueInvalid spec.x: Invalid value: "é": spec.x in body must NOT have fewer than 2 characters',
    ],
    [
      { type: 'string', maxLength: 2 },
      'abc',
      'FieldValueInvalid spec.x: Invalid value: "abc": spec.x in body must NOT have more than 2 characters',
    ],
    [
      { type: 'string', pattern: '^a+$' },
      'b',
      'FieldValueInvalid spec.x: Invalid value: "b": spec.x in body should match \'^a+$\'',
    ],
    [
      { type: 'array', minItems: 1, items: {} },
      [],
      'FieldValueInvalid spec.x: Invalid value: []: spec.x in body must NOT have fewer than 1 items',
    ],
    [
      { type: 'array', maxItems: 1, items: {} },
      [1, 2],
      'FieldValueInvalid spec.x: Invalid value: [1,2]: spec.x in body must NOT have more than 1 items',
    ],
    [{ type: 'object', required: ['y'] }, {}, 'FieldValueRequired spec.x.y: Required value'],
    [
      { 'x-kubernetes-int-or-string': true },
      true,
      'FieldValueTypeInvalid spec.x: Invalid value: "boolean": spec.x in body must be of type integer,string: "boolean"',
    ],
    [
      { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
      ['a', 'b', 'a'],
      'FieldValueDuplicate spec.x[2]: Duplicate value: "a"',
    ],
    [
      {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['port', 'protocol'],
        items: {
          type: 'object',
          properties: { port: { type: 'integer' }, protocol: { type: 'string' } },
        },
      },
      [
        { port: 1, protocol: 'TCP' },
        { port: 1, protocol: 'TCP' },
      ],
      'FieldValueInvalid spec.x: Invalid value: [{"port":1,"protocol":"TCP"},{"port":1,"protocol":"TCP"}]: spec.x in body must not have two elements with the same keys',
    ],
  ];
  test.each(rejections)('%j rejects %j', (schema, value, expected) => {
    expect(shown(value, schema)).toEqual([expected]);
  });

  test('reports paths through lists, maps and fields named like keywords', () => {
    const schema: JsonObject = {
      type: 'object',
      properties: {
        anyOf: { type: 'array', items: { type: 'object', additionalProperties: { type: 'string' } } },
        not: { type: 'string' },
      },
    };
    expect(shown({ anyOf: [{}, { 'a/b': 1 }], not: 2 }, schema, '').map((text) => text.split(':')[0])).toEqual([
      'FieldValueTypeInvalid anyOf[1].a/b',
      'FieldValueTypeInvalid not',
    ]);
  });

  test('shows the beginning of a large value, and encodes no more of it', () => {
    const value = Array.from({ length: 100 }, () => ({ text: 'x'.repeat(10_000) }));
    const stringify = vi.spyOn(JSON, 'stringify');
    const [message] = shown(value, { type: 'array', maxItems: 1, items: { type: 'object' } });
    const encoded = stringify.mock.results.reduce((sum, { value: text }) => sum + String(text).length, 0);
    stringify.mockRestore();
    expect(message).toMatch(/Invalid value: \[\{"text":"x{502}…: spec.x in body must NOT have more than 1 items$/);
    expect(encoded).toBeLessThan(1_000);
  });

  test('stops at the first problem that a response does not name', () => {
    expect(
      shown(
        Array.from({ length: 5_000 }, () => 1),
        { type: 'array', items: { type: 'string' } },
      ),
    ).toHaveLength(101);
  });

  test('requires a matching schema in anyOf', () => {
    const schema: JsonObject = { type: 'integer', anyOf: [{ minimum: 5 }, { maximum: 1 }] };
    expect(shown(3, schema).join()).toContain('must match a schema in anyOf');
    expect(shown(9, schema)).toEqual([]);
  });

  test('accepts quantities for an int-or-string with an anyOf and a pattern', () => {
    const schema: JsonObject = {
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      pattern: '^[0-9]+m?$',
      'x-kubernetes-int-or-string': true,
    };
    expect(shown('500m', schema)).toEqual([]);
    expect(shown(2, schema)).toEqual([]);
    expect(shown('half', schema).join()).toContain("should match '^[0-9]+m?$'");
  });

  test('accepts null for a nullable field of any type and enum', () => {
    expect(shown(null, { type: 'string', nullable: true, enum: ['a'] })).toEqual([]);
    expect(shown(1, { type: 'string', nullable: true }).join()).toContain('must be of type string: "integer"');
  });
});

/** Returns the schema of a list whose elements have this schema. */
const listOf = (items: JsonObject): JsonObject => ({ type: 'array', items });
const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const wide = Object.fromEntries(many(1_000, (i) => [`f${i}`, 1]));
/** A schema with 2^depth branches that reject every string. */
const branches = (depth: number): JsonObject =>
  depth === 0 ? { type: 'integer' } : { anyOf: [branches(depth - 1), branches(depth - 1)] };

describe('the steps of a check', () => {
  test.each<[string, JsonValue, JsonObject]>([
    ['elements and branches', many(1_000, String), listOf({ anyOf: [branches(10), { type: 'string' }] })],
    ['elements and an enum', many(1_000, () => 'e999'), listOf({ enum: many(1_000, (i) => `e${i}`) })],
    ['elements and required fields', many(1_000, () => wide), listOf({ required: Object.keys(wide) })],
    ['a text and a pattern', 'a'.repeat(200_000), { type: 'string', pattern: 'a{1,100}$' }],
    ['a pattern whose repetitions are written out', 'a', { type: 'string', pattern: '(a{1,99}){1,9}'.repeat(100) }],
    [
      'distinct elements and branches',
      many(200, (i) => `${i}`.repeat(5_000)),
      { ...listOf({ type: 'string' }), anyOf: many(20, () => ({ 'x-kubernetes-list-type': 'set', maxItems: 1 })) },
    ],
  ])('are limited for the product of %s', (_what, value, schema) => {
    expect(() => validate(value, schema)).toThrow(StepLimitError);
  });

  test('do not grow with the power of nested repetitions in a pattern', () => {
    const schema = { type: 'string', pattern: '^(a+)+$' };
    expect(shown(`${'a'.repeat(10_000)}!`, schema).join()).toContain("should match '^(a+)+$'");
    expect(shown('a'.repeat(10_000), schema)).toEqual([]);
  });

  test('allow a large object', () => {
    const items = {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string', pattern: '^[a-z0-9]+$' } },
    };
    expect(
      validate(
        many(5_000, (i) => ({ name: `name${i}` })),
        listOf(items),
      ),
    ).toEqual([]);
  });
});
