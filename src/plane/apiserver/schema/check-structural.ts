import { isObject } from '../json.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { fieldForbidden, invalidValue, required, wrongType } from './field-error.ts';
import type { FieldError } from './field-error.ts';
import { childPath } from './field-path.ts';
import { Patterns } from './patterns.ts';
import { StepLimit } from './step-limit.ts';
import type { StructuralSchema } from './structural-schema.ts';

const listTypeKeyword = 'x-kubernetes-list-type';
const mapKeysKeyword = 'x-kubernetes-list-map-keys';
const types = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object']);

type KeywordRule = (value: JsonValue) => boolean;

const isText: KeywordRule = (value) => typeof value === 'string';
const isFlag: KeywordRule = (value) => typeof value === 'boolean';
const isNumber: KeywordRule = (value) => typeof value === 'number';
const isCount: KeywordRule = (value) => Number.isInteger(value) && (value as number) >= 0;

/** [rule for the values of keywords, the keywords that the server supports] */
const rules: readonly (readonly [KeywordRule, readonly string[]])[] = [
  [isText, ['title', 'description', 'format', 'pattern', listTypeKeyword, 'x-kubernetes-map-type']],
  [isFlag, ['nullable', 'x-kubernetes-int-or-string', 'x-kubernetes-preserve-unknown-fields']],
  [isNumber, ['minimum', 'maximum']],
  [isCount, ['minLength', 'maxLength', 'minItems', 'maxItems']],
  [(value) => typeof value === 'string' && types.has(value), ['type']],
  [(value) => Array.isArray(value), ['enum']],
  [(value) => Array.isArray(value) && value.every(isText), ['required', mapKeysKeyword]],
  [(value) => Array.isArray(value) && value.every(isObject), ['anyOf']],
  [(value) => isObject(value) && Object.values(value).every(isObject), ['properties']],
  [(value) => isObject(value) || value === true, ['additionalProperties']],
  [isObject, ['items']],
  [() => true, ['example', 'externalDocs', 'default']],
];
/** keyword -> rule for its value */
const keywordRules = new Map(rules.flatMap(([rule, keywords]) => keywords.map((keyword) => [keyword, rule] as const)));

/**
 * Checks that this API server supports the schema of a CustomResourceDefinition. It rejects unknown keywords instead of ignoring them,
 * including CEL rules (`x-kubernetes-validations`). kube-apiserver rejects more, such as anyOf branches that define structure. `path`
 * is the schema's path in the CRD; `steps` counts for the whole CRD. Throws StepLimitError.
 */
export function checkStructural(
  schema: JsonValue,
  path = 'openAPIV3Schema',
  steps: StepLimit = new StepLimit(),
): FieldError[] {
  if (!isObject(schema)) return [wrongType(path, schema, 'object')];
  if (schema.type !== 'object') return [required(childPath(path, 'type'), 'must be object at the root')];
  const check: Check = { errors: [], patterns: new Patterns(), steps };
  checkKeywords(schema, path, false, check);
  return check.errors;
}

interface Check {
  readonly errors: FieldError[];
  readonly patterns: Patterns;
  readonly steps: StepLimit;
}

function checkKeywords(schema: JsonObject, path: string, isBranch: boolean, check: Check): void {
  const { errors, patterns, steps } = check;
  steps.count(1);
  let isValid = true;
  for (const [keyword, value] of Object.entries(schema)) {
    const rule = keywordRules.get(keyword);
    if (rule?.(value) === true) continue;
    isValid = false;
    const at = childPath(path, keyword);
    errors.push(rule === undefined ? fieldForbidden(at, rejectionOf(keyword)) : invalidValue(at, value, wrongKeyword));
  }
  if (!isValid) return;
  const { type, pattern, items }: StructuralSchema = schema;
  const needsType =
    schema['x-kubernetes-int-or-string'] !== true && schema['x-kubernetes-preserve-unknown-fields'] !== true;
  if (type === undefined && needsType && !isBranch) errors.push(required(childPath(path, 'type')));
  const problem = pattern === undefined ? undefined : patterns.problemOf(pattern, steps);
  if (problem !== undefined) errors.push(invalidValue(childPath(path, 'pattern'), pattern!, problem));
  if (type === 'array' && items === undefined && !isBranch) {
    errors.push(required(childPath(path, 'items'), 'must be specified'));
  }
  if (schema[listTypeKeyword] === 'map' && schema[mapKeysKeyword] === undefined) {
    errors.push(required(childPath(path, mapKeysKeyword), 'must be specified for a list of type map'));
  }
  for (const [at, child] of structureOf(schema, path)) checkKeywords(child, at, isBranch, check);
  for (const branch of (schema.anyOf ?? []) as JsonObject[])
    checkKeywords(branch, childPath(path, 'anyOf'), true, check);
}

/** Returns the schemas of the parts of a value, with their paths. */
function structureOf(schema: JsonObject, path: string): [path: string, schema: JsonObject][] {
  const parts = Object.entries((schema.properties ?? {}) as Record<string, JsonObject>).map(
    ([name, property]): [string, JsonObject] => [childPath(childPath(path, 'properties'), name), property],
  );
  for (const keyword of ['items', 'additionalProperties']) {
    const part = schema[keyword];
    if (isObject(part)) parts.push([childPath(path, keyword), part]);
  }
  return parts;
}

const wrongKeyword = 'must be a valid value of this keyword of OpenAPI';

function rejectionOf(keyword: string): string {
  return keyword === 'x-kubernetes-validations'
    ? 'CEL validation rules are not supported by this API server; remove them, or use type, enum, pattern and bounds instead'
    : 'not supported in a structural schema by this API server';
}
