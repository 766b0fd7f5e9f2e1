import { Ajv } from 'ajv';
import type { ErrorObject } from 'ajv';
import type { JsonObject, JsonValue } from '../json.ts';
import { duplicateValue, invalidValue, notSupported, required, wrongFormat, wrongType } from './field-error.ts';
import type { FieldError } from './field-error.ts';
import { childPath, elementPath } from './field-path.ts';
import { numberFormats, stringFormats } from './formats.ts';
import { toJsonSchema } from './json-schema.ts';

/** Returns all errors of a value. `path` is the value's own path, "" for a whole object. */
export type StructuralValidator = (value: JsonValue, path?: string) => FieldError[];

const listTypeKeyword = 'x-kubernetes-list-type';

/** Compiles a schema to a validator. Throws for an invalid schema, such as one with an invalid regular expression. */
export type StructuralCompiler = (schema: JsonObject) => StructuralValidator;

/**
 * Returns a compiler for the schemas of custom resources. The errors of its validators have Kubernetes' wording for types, formats, enums,
 * bounds, patterns and required fields, and ajv's wording for other keywords. Making a compiler takes milliseconds, compiling a small
 * schema less, and validating takes microseconds. So use one compiler for the parts of a schema, and keep validators.
 */
export function structuralCompiler(): StructuralCompiler {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    strict: false,
    logger: false,
    ownProperties: true,
    unicodeRegExp: false,
  });
  for (const [name, validate] of stringFormats) ajv.addFormat(name, { type: 'string', validate });
  for (const [name, validate] of numberFormats) ajv.addFormat(name, { type: 'number', validate });
  ajv.addKeyword({
    keyword: 'x-kubernetes-list-map-keys',
    type: 'array',
    error: { message: 'must not have two elements with the same keys' },
    validate: (keys: readonly string[], list: readonly JsonObject[]) =>
      new Set(list.map((element) => JSON.stringify(keys.map((key) => element?.[key])))).size === list.length,
  });
  ajv.addKeyword({
    keyword: listTypeKeyword,
    type: 'array',
    // The library's own uniqueItems compares each element with every other one.
    validate: (listType: string, list: readonly JsonValue[]) => listType !== 'set' || firstDuplicate(list) < 0,
  });
  return (schema) => {
    const validate = ajv.compile(toJsonSchema(schema));
    return (value, path = '') => (validate(value) ? [] : fieldErrors(validate.errors ?? [], value, path));
  };
}

function fieldErrors(errors: readonly ErrorObject[], root: JsonValue, path: string): FieldError[] {
  const outer = errors.filter(({ keyword, schemaPath }) => keyword !== 'if' && !isInsideBranch(schemaPath));
  return outer.map((error) => fieldError(error, fieldPath(error.instancePath, root, path)));
}

/** Returns whether an error comes from inside an anyOf, oneOf or not. The keyword itself reports an error of its own. */
function isInsideBranch(schemaPath: string): boolean {
  const segments = schemaPath.split('/').slice(1, -1);
  for (let index = 0; index < segments.length; index++) {
    const segment = segments[index];
    if (segment === 'anyOf' || segment === 'oneOf' || segment === 'not') return true;
    if (segment === 'properties') index++; // the next segment is a field name, which may equal a keyword
  }
  return false;
}

/** Returns the index of the first element that equals an earlier one, or -1. */
function firstDuplicate(list: readonly JsonValue[]): number {
  const seen = new Set<string>();
  return list.findIndex((element) => {
    const text = JSON.stringify(element);
    const isDuplicate = seen.has(text);
    seen.add(text);
    return isDuplicate;
  });
}

/** Converts a JSON pointer to a field path: `/spec/tasks/0/name` to `spec.tasks[0].name` if `tasks` is a list. */
function fieldPath(pointer: string, root: JsonValue, path: string): string {
  let field = path;
  let value: JsonValue | undefined = root;
  for (const escaped of pointer.split('/').slice(1)) {
    const segment = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) {
      field = elementPath(field, Number(segment));
      value = value[Number(segment)];
    } else {
      field = childPath(field, segment);
      value = (value as JsonObject)[segment];
    }
  }
  return field;
}

const comparisons: Readonly<Record<string, string>> = {
  '>=': 'greater than or equal to',
  '>': 'greater than',
  '<=': 'less than or equal to',
  '<': 'less than',
};

function fieldError(error: ErrorObject, field: string): FieldError {
  const value = error.data as JsonValue;
  const params = error.params as Record<string, string | number>;
  const invalid = (detail: string): FieldError => invalidValue(field, value, `${field} in body ${detail}`);
  switch (error.keyword) {
    case 'required':
      return required(childPath(field, String(params.missingProperty)));
    case 'type':
      return wrongType(field, value, String(error.schema).replace(/,null$/, ''));
    case 'enum':
      return notSupported(field, value, error.schema as JsonValue[]);
    case 'format':
      return wrongFormat(field, value, String(params.format));
    case listTypeKeyword: {
      const list = value as JsonValue[];
      const index = firstDuplicate(list);
      return duplicateValue(elementPath(field, index), list[index]!);
    }
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return invalid(`should be ${comparisons[params.comparison!]} ${params.limit}`);
    case 'pattern':
      return invalid(`should match '${params.pattern}'`);
    default:
      return invalid(error.message ?? `is not valid (${error.keyword})`);
  }
}
