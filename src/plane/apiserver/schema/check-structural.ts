import { Ajv } from 'ajv';
import { append } from '../append.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { compileStructural, fieldErrors } from './compile-structural.ts';
import type { FieldError } from './field-error.ts';
import { childPath, keyPath } from './field-path.ts';
import { patternFormat, patternProblem } from './pattern.ts';
import type { StructuralSchema } from './structural-schema.ts';

const flag = { type: 'boolean' };
const branch = { $ref: '#/definitions/branch' };
const branches = { type: 'array', minItems: 1, items: branch };
const size = { type: 'integer', minimum: 0 };
const names = { type: 'array', items: { type: 'string' } };
/** Keyword of a structural schema -> the JSON Schema of its value. Any other keyword is an error, so that none is ignored. */
const keywords = (node: JsonObject): Record<keyof StructuralSchema, JsonObject> & JsonObject => ({
  ...{ title: {}, description: {}, example: {}, externalDocs: {}, default: {}, uniqueItems: { enum: [false] } },
  type: { enum: ['object', 'array', 'string', 'integer', 'number', 'boolean'] },
  format: { type: 'string' },
  nullable: flag,
  enum: { type: 'array', minItems: 1 },
  properties: { type: 'object', additionalProperties: node },
  additionalProperties: { if: { type: 'boolean' }, then: { enum: [true] }, else: node },
  items: node,
  required: names,
  ...{ minimum: { type: 'number' }, maximum: { type: 'number' }, multipleOf: { type: 'number', exclusiveMinimum: 0 } },
  ...{ exclusiveMinimum: flag, exclusiveMaximum: flag },
  ...{ minLength: size, maxLength: size, minItems: size, maxItems: size, minProperties: size, maxProperties: size },
  pattern: { type: 'string', format: patternFormat },
  ...{ allOf: branches, anyOf: branches, oneOf: branches, not: branch },
  'x-kubernetes-int-or-string': flag,
  'x-kubernetes-preserve-unknown-fields': { enum: [true] },
  'x-kubernetes-embedded-resource': flag,
  'x-kubernetes-list-type': { enum: ['atomic', 'set', 'map'] },
  'x-kubernetes-list-map-keys': { ...names, minItems: 1 },
  'x-kubernetes-map-type': { enum: ['granular', 'atomic'] },
});

const schemaOf = (name: string): JsonObject => ({
  type: 'object',
  properties: keywords({ $ref: `#/definitions/${name}` }),
  additionalProperties: false,
});
/** Alternatives may say no more than how values are restricted; elsewhere a schema has a type, or says why it has none. */
const metaSchema: JsonObject = {
  definitions: {
    branch: schemaOf('branch'),
    node: {
      ...schemaOf('node'),
      if: {
        anyOf: [{ required: ['x-kubernetes-int-or-string'] }, { required: ['x-kubernetes-preserve-unknown-fields'] }],
      },
      else: { required: ['type'] },
      dependencies: {
        'x-kubernetes-list-type': {
          if: { properties: { 'x-kubernetes-list-type': { enum: ['map'] } } },
          then: { required: ['x-kubernetes-list-map-keys'] },
        },
      },
    },
  },
  allOf: [{ $ref: '#/definitions/node' }, { properties: { type: { enum: ['object'] } } }],
};

const ajv = new Ajv({ strict: false, verbose: true, ownProperties: true, allErrors: true });
ajv.addFormat(patternFormat, { type: 'string', validate: (text: string) => patternProblem(text) === undefined });
const validate = ajv.compile(metaSchema);

/**
 * Whether this API server can work with the schema of a CustomResourceDefinition: it rejects keywords that it does not know, CEL rules
 * (`x-kubernetes-validations`) among them, rather than ignoring them. A real server rejects more, such as alternatives
 * that give structure. `path` is the schema's own place in the definition.
 */
export function checkStructural(schema: JsonValue, path = 'openAPIV3Schema'): FieldError[] {
  if (!validate(schema)) return fieldErrors(validate.errors ?? [], schema, path);
  const errors: FieldError[] = [];
  checkDefaults(schema as JsonObject, path, errors);
  return errors;
}

/** Every default must itself be valid. Run only on a schema that is sound, because it compiles parts of it. */
function checkDefaults(schema: JsonObject, path: string, errors: FieldError[]): void {
  const { default: value, properties, items, additionalProperties } = schema as StructuralSchema;
  if (value !== undefined) append(errors, compileStructural(schema)(value, childPath(path, 'default')));
  for (const [name, property] of Object.entries(properties ?? {})) {
    checkDefaults(property as JsonObject, keyPath(childPath(path, 'properties'), name), errors);
  }
  if (items !== undefined) checkDefaults(items as JsonObject, childPath(path, 'items'), errors);
  if (typeof additionalProperties === 'object') {
    checkDefaults(additionalProperties as JsonObject, childPath(path, 'additionalProperties'), errors);
  }
}
