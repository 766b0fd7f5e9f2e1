import { append } from '../append.ts';
import { isObject } from '../json.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { structuralCompiler } from './compile-structural.ts';
import type { StructuralCompiler } from './compile-structural.ts';
import { fieldForbidden, invalidValue, required, wrongType } from './field-error.ts';
import type { FieldError } from './field-error.ts';
import { childPath } from './field-path.ts';

/** Keywords without nested schemas. */
const ownKeywords = [
  ...[
    'title',
    'description',
    'example',
    'externalDocs',
    'default',
    'uniqueItems',
    'type',
    'format',
    'nullable',
    'enum',
  ],
  ...['required', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'pattern'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
  ...['x-kubernetes-int-or-string', 'x-kubernetes-preserve-unknown-fields'],
  ...['x-kubernetes-list-type', 'x-kubernetes-list-map-keys', 'x-kubernetes-map-type'],
];
/** Keywords with one or more schemas that only restrict the value that the outer schema describes. */
const branchKeywords = ['allOf', 'anyOf', 'oneOf', 'not'];
const knownKeywords = new Set([...ownKeywords, ...branchKeywords, 'properties', 'additionalProperties', 'items']);

/**
 * Checks that this API server supports the schema of a CustomResourceDefinition. It rejects unknown keywords instead of ignoring them,
 * including CEL rules (`x-kubernetes-validations`). kube-apiserver rejects more, such as anyOf branches that define structure. `path`
 * is the schema's path in the CRD.
 */
export function checkStructural(schema: JsonValue, path = 'openAPIV3Schema'): FieldError[] {
  if (!isObject(schema)) return [wrongType(path, schema, 'object')];
  if (schema.type !== 'object') return [required(childPath(path, 'type'), 'must be object at the root')];
  const errors: FieldError[] = [];
  const compile = structuralCompiler();
  check(schema, path, false, { errors, compile });
  if (errors.length > 0) return errors;
  try {
    compile(schema);
    return [];
  } catch (error) {
    return [invalidValue(path, 'object', (error as Error).message)];
  }
}

interface Check {
  readonly errors: FieldError[];
  readonly compile: StructuralCompiler;
}

function check(schema: JsonValue | undefined, path: string, isBranch: boolean, state: Check): void {
  if (!isObject(schema)) return;
  const { errors, compile } = state;
  for (const keyword of Object.keys(schema)) {
    if (!knownKeywords.has(keyword)) errors.push(fieldForbidden(childPath(path, keyword), rejectionOf(keyword)));
  }
  const needsType =
    schema['x-kubernetes-int-or-string'] !== true && schema['x-kubernetes-preserve-unknown-fields'] !== true;
  if (schema.type === undefined && needsType && !isBranch) errors.push(required(childPath(path, 'type')));
  const problem = typeof schema.pattern === 'string' ? patternProblem(schema.pattern) : undefined;
  if (problem !== undefined) errors.push(invalidValue(childPath(path, 'pattern'), schema.pattern!, problem));
  const { properties, items, additionalProperties } = schema;
  if (schema.type === 'array' && items === undefined && !isBranch) {
    errors.push(required(childPath(path, 'items'), 'must be specified'));
  }
  if (schema['x-kubernetes-list-type'] === 'map' && schema['x-kubernetes-list-map-keys'] === undefined) {
    errors.push(required(childPath(path, 'x-kubernetes-list-map-keys'), 'must be specified for a list of type map'));
  }
  if (schema.uniqueItems === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(fieldForbidden(childPath(path, 'uniqueItems'), why));
  }
  if (schema.default !== undefined && schema.default !== null) append(errors, defaultErrors(schema, path, compile));
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
    check(property, childPath(childPath(path, 'properties'), name), isBranch, state);
  }
  check(items, childPath(path, 'items'), isBranch, state);
  check(additionalProperties, childPath(path, 'additionalProperties'), isBranch, state);
  for (const keyword of branchKeywords) {
    for (const branch of [schema[keyword] ?? []].flat()) check(branch, childPath(path, keyword), true, state);
  }
}

/** Checks the default of a schema against the schema. */
function defaultErrors(schema: JsonObject, path: string, compile: StructuralCompiler): FieldError[] {
  try {
    return compile(schema)(schema.default!, childPath(path, 'default'));
  } catch {
    return []; // Compiling the whole schema reports the problem.
  }
}

function patternProblem(pattern: string): string | undefined {
  try {
    new RegExp(pattern);
    return undefined;
  } catch (error) {
    return `must be a regular expression that ECMAScript can read: ${(error as Error).message}`;
  }
}

function rejectionOf(keyword: string): string {
  return keyword === 'x-kubernetes-validations'
    ? 'CEL validation rules are not supported by this API server; remove them, or use type, enum, pattern and bounds instead'
    : 'not supported in a structural schema by this API server';
}
