import { append } from '../append.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { compileStructural } from './compile-structural.ts';
import { forbiddenField, invalidField, requiredField, unsupportedValue } from './field-error.ts';
import type { FieldError } from './field-error.ts';
import { childPath, elementPath, keyPath } from './field-path.ts';
import { Pattern, PatternError } from './pattern.ts';

/** Where a schema stands: a place that gives values their type, or an alternative that may only restrict them. */
type Position = 'root' | 'structure' | 'branch' | 'intOrStringBranch';

const types: readonly string[] = ['object', 'array', 'string', 'integer', 'number', 'boolean'];

const forbiddenKeywords = [
  '$ref',
  '$schema',
  'additionalItems',
  'definitions',
  'dependencies',
  'deprecated',
  'discriminator',
  'id',
  'patternProperties',
  'readOnly',
  'writeOnly',
  'xml',
] as const;

/** Keywords that give structure, and so may not stand in an alternative. */
const structureKeywords = [
  'type',
  'default',
  'nullable',
  'additionalProperties',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
] as const;

const sizeKeywords = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'] as const;
const numberKeywords = ['minimum', 'maximum', 'multipleOf'] as const;
const flagKeywords = [
  'nullable',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'x-kubernetes-int-or-string',
  'x-kubernetes-embedded-resource',
] as const;
const branchKeywords = ['allOf', 'anyOf', 'oneOf'] as const;

/**
 * Whether the schema of a CustomResourceDefinition is structural, and whether it uses only what is supported here: CEL rules
 * (`x-kubernetes-validations`) are refused rather than ignored. `path` is the schema's own place in the definition.
 */
export function checkStructural(schema: unknown, path = 'openAPIV3Schema'): FieldError[] {
  const errors: FieldError[] = [];
  check(schema, path, 'root', errors);
  if (errors.length === 0) checkDefaults(schema as JsonObject, path, errors);
  return errors;
}

function check(value: unknown, path: string, position: Position, errors: FieldError[]): void {
  if (!isObject(value)) {
    errors.push(invalidField(path, (value ?? null) as JsonValue, 'must be a schema, which is an object'));
    return;
  }
  checkForbidden(value, path, errors);
  if (position === 'branch' || position === 'intOrStringBranch') checkBranch(value, path, position, errors);
  else checkType(value, path, position, errors);
  checkKeywordTypes(value, path, errors);
  checkLists(value, path, errors);
  checkChildren(value, path, position === 'root' ? 'structure' : position, errors);
}

function checkForbidden(schema: JsonObject, path: string, errors: FieldError[]): void {
  for (const keyword of forbiddenKeywords) {
    if (keyword in schema)
      errors.push(forbiddenField(childPath(path, keyword), 'must not be used in a structural schema'));
  }
  if (schema.uniqueItems === true) {
    const detail = 'uniqueItems cannot be set to true; use x-kubernetes-list-type: set';
    errors.push(forbiddenField(childPath(path, 'uniqueItems'), detail));
  }
  if ('x-kubernetes-validations' in schema) {
    const detail =
      'CEL validation rules are not supported by this API server; remove them, or use type, enum, pattern and bounds instead';
    errors.push(forbiddenField(childPath(path, 'x-kubernetes-validations'), detail));
  }
}

function checkBranch(schema: JsonObject, path: string, position: Position, errors: FieldError[]): void {
  for (const keyword of structureKeywords) {
    if (!(keyword in schema)) continue;
    // An int-or-string field may spell its two types out.
    if (position === 'intOrStringBranch' && keyword === 'type') continue;
    errors.push(forbiddenField(childPath(path, keyword), 'must not be set inside allOf, anyOf, oneOf or not'));
  }
}

function checkType(schema: JsonObject, path: string, position: Position, errors: FieldError[]): void {
  const { type } = schema;
  const field = childPath(path, 'type');
  const isOpen =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (type === undefined || type === '') {
    if (position === 'root') errors.push(requiredField(field, 'must not be empty at the root'));
    else if (!isOpen) errors.push(requiredField(field, 'must not be empty for specified object fields'));
  } else if (typeof type !== 'string' || !types.includes(type)) {
    errors.push(unsupportedValue(field, type, types));
  } else if (position === 'root' && type !== 'object') {
    errors.push(invalidField(field, type, 'must be object at the root'));
  } else if (schema['x-kubernetes-int-or-string'] === true) {
    errors.push(forbiddenField(field, 'must be empty if x-kubernetes-int-or-string is true'));
  } else if (schema['x-kubernetes-embedded-resource'] === true && type !== 'object') {
    errors.push(invalidField(field, type, 'must be object if x-kubernetes-embedded-resource is true'));
  }
}

function checkKeywordTypes(schema: JsonObject, path: string, errors: FieldError[]): void {
  const wrong = (keyword: string, expected: string): void => {
    errors.push(invalidField(childPath(path, keyword), schema[keyword]!, `must be ${expected}`));
  };
  for (const keyword of sizeKeywords) {
    const value = schema[keyword];
    if (value === undefined || (typeof value === 'number' && Number.isInteger(value) && value >= 0)) continue;
    wrong(keyword, 'an integer of at least 0');
  }
  for (const keyword of numberKeywords) {
    if (keyword in schema && typeof schema[keyword] !== 'number') wrong(keyword, 'a number');
  }
  for (const keyword of flagKeywords) {
    if (keyword in schema && typeof schema[keyword] !== 'boolean') wrong(keyword, 'true or false');
  }
  const preserve = 'x-kubernetes-preserve-unknown-fields';
  if (preserve in schema && schema[preserve] !== true) wrong(preserve, 'true or absent');
  if ('enum' in schema && (!Array.isArray(schema.enum) || schema.enum.length === 0)) wrong('enum', 'a list of values');
  if ('required' in schema && !isStringList(schema.required)) wrong('required', 'a list of field names');
  if (typeof schema.multipleOf === 'number' && schema.multipleOf <= 0) wrong('multipleOf', 'greater than 0');
  const problem = schema.pattern === undefined ? undefined : patternProblem(schema.pattern);
  if (problem !== undefined) wrong('pattern', `a valid regular expression, but ${problem}`);
}

function checkLists(schema: JsonObject, path: string, errors: FieldError[]): void {
  if (schema.type === 'array' && !('items' in schema)) {
    errors.push(requiredField(childPath(path, 'items'), 'must be specified for arrays'));
  }
  const field = childPath(path, 'x-kubernetes-list-type');
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'];
  if (listType !== undefined) {
    if (listType !== 'atomic' && listType !== 'set' && listType !== 'map') {
      errors.push(unsupportedValue(field, listType, ['atomic', 'map', 'set']));
    }
    if (schema.type !== 'array') {
      errors.push(
        invalidField(childPath(path, 'type'), schema.type ?? '', 'must be array if x-kubernetes-list-type is set'),
      );
    }
  }
  if (listType === 'map') checkMapKeys(schema, path, errors);
  else if (keys !== undefined) {
    errors.push(invalidField(field, listType ?? '', 'must be map if x-kubernetes-list-map-keys is set'));
  }
}

function checkMapKeys(schema: JsonObject, path: string, errors: FieldError[]): void {
  const keys = schema['x-kubernetes-list-map-keys'];
  const field = childPath(path, 'x-kubernetes-list-map-keys');
  if (!isStringList(keys) || keys.length === 0) {
    errors.push(requiredField(field, 'must be a list of field names if x-kubernetes-list-type is map'));
    return;
  }
  const items = isObject(schema.items) ? schema.items : {};
  const properties = isObject(items.properties) ? items.properties : {};
  const required = isStringList(items.required) ? items.required : [];
  for (const [index, key] of keys.entries()) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (!isObject(property)) {
      errors.push(invalidField(elementPath(field, index), key, 'must be one of the properties of items'));
    } else if (!required.includes(key) && !('default' in property)) {
      const detail = 'must be required or have a default, because it is in x-kubernetes-list-map-keys';
      errors.push(requiredField(`${keyPath(childPath(childPath(path, 'items'), 'properties'), key)}.default`, detail));
    }
  }
}

function checkChildren(schema: JsonObject, path: string, position: Position, errors: FieldError[]): void {
  const { properties, additionalProperties, items } = schema;
  if (properties !== undefined) {
    if (!isObject(properties)) {
      errors.push(invalidField(childPath(path, 'properties'), properties, 'must be an object'));
    } else {
      for (const [name, property] of Object.entries(properties)) {
        check(property, keyPath(childPath(path, 'properties'), name), position, errors);
      }
    }
  }
  if (properties !== undefined && additionalProperties !== undefined) {
    const detail = 'additionalProperties and properties are mutually exclusive';
    errors.push(forbiddenField(childPath(path, 'additionalProperties'), detail));
  } else if (additionalProperties === false) {
    errors.push(forbiddenField(childPath(path, 'additionalProperties'), 'must not be false'));
  } else if (additionalProperties !== undefined && additionalProperties !== true) {
    check(additionalProperties, childPath(path, 'additionalProperties'), position, errors);
  }
  if (Array.isArray(items))
    errors.push(forbiddenField(childPath(path, 'items'), 'items must be a schema object and not an array'));
  else if (items !== undefined) check(items, childPath(path, 'items'), position, errors);
  for (const keyword of branchKeywords) checkBranches(schema, keyword, path, errors);
  if (schema.not !== undefined) {
    check(schema.not, childPath(path, 'not'), 'branch', errors);
    checkComplete(schema.not, schema, childPath(path, 'not'), path, errors);
  }
}

function checkBranches(schema: JsonObject, keyword: string, path: string, errors: FieldError[]): void {
  const branches = schema[keyword];
  if (branches === undefined) return;
  if (!Array.isArray(branches) || branches.length === 0) {
    errors.push(invalidField(childPath(path, keyword), branches, 'must be a list of schemas'));
    return;
  }
  for (const [index, branch] of branches.entries()) {
    const branchPath = elementPath(childPath(path, keyword), index);
    check(branch, branchPath, schema['x-kubernetes-int-or-string'] === true ? 'intOrStringBranch' : 'branch', errors);
    checkComplete(branch, schema, branchPath, path, errors);
  }
}

/** A field that an alternative mentions must also be part of the structure outside of it. */
function checkComplete(
  branch: JsonValue,
  outer: JsonValue | undefined,
  path: string,
  outerPath: string,
  errors: FieldError[],
): void {
  if (!isObject(branch) || !isObject(outer)) return;
  if (isObject(branch.properties)) {
    const known = isObject(outer.properties) ? outer.properties : {};
    for (const [name, property] of Object.entries(branch.properties)) {
      const field = keyPath(childPath(outerPath, 'properties'), name);
      const structure = (Object.hasOwn(known, name) ? known[name] : undefined) ?? outer.additionalProperties;
      if (structure === undefined)
        errors.push(requiredField(field, `because it is defined in ${path}.properties[${name}]`));
      else checkComplete(property, structure, keyPath(childPath(path, 'properties'), name), field, errors);
    }
  }
  if (isObject(branch.items)) {
    checkComplete(branch.items, outer.items, childPath(path, 'items'), childPath(outerPath, 'items'), errors);
  }
}

/** Every default must itself be valid. Run only on a schema that is sound, because it compiles parts of it. */
function checkDefaults(schema: JsonObject, path: string, errors: FieldError[]): void {
  if (schema.default !== undefined) {
    append(errors, compileStructural(schema)(schema.default, childPath(path, 'default')));
  }
  if (isObject(schema.properties)) {
    for (const [name, property] of Object.entries(schema.properties)) {
      checkDefaults(property as JsonObject, keyPath(childPath(path, 'properties'), name), errors);
    }
  }
  if (isObject(schema.items)) checkDefaults(schema.items, childPath(path, 'items'), errors);
  if (isObject(schema.additionalProperties)) {
    checkDefaults(schema.additionalProperties, childPath(path, 'additionalProperties'), errors);
  }
}

function patternProblem(value: JsonValue): string | undefined {
  if (typeof value !== 'string') return 'it is not a string';
  try {
    new Pattern(value);
    return undefined;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}

function isStringList(value: JsonValue | undefined): value is string[] {
  return Array.isArray(value) && value.every((element) => typeof element === 'string');
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
