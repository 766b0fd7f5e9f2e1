import { Ajv } from 'ajv';
import type { ErrorObject, Options, ValidateFunction } from 'ajv';
import type { JsonObject, JsonValue } from '../json.ts';
import {
  forbiddenField,
  invalidField,
  requiredField,
  tooLong,
  tooMany,
  typeName,
  unsupportedValue,
  wrongFormat,
  wrongType,
} from './field-error.ts';
import type { FieldError } from './field-error.ts';
import { childPath, elementPath } from './field-path.ts';
import { numberFormats, stringFormats } from './formats.ts';
import { MatchingWork, Pattern, PatternError, patternFormat, patternProblem } from './pattern.ts';
import { toJsonSchema } from './json-schema.ts';
import { listTypeErrors } from './list-type-errors.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** Everything that is wrong with a value; `path` is the value's own place, "" for a whole object. */
export type StructuralValidator = (value: JsonValue, path?: string) => FieldError[];

const ajvOptions: Options = {
  verbose: true,
  // checkStructural has judged the schema by Kubernetes' rules, which differ from JSON Schema's in places.
  strict: false,
  validateSchema: false,
  ownProperties: true,
};

/** Of an object with more values only the first error is looked for: all of them could be as many. */
const fullyJudgedValues = 2_000;
/** So many errors are told. */
const reportedLimit = 100;

/**
 * Compiles the schema of a custom resource, as accepted by `checkStructural`, to a validator that words its errors as
 * Kubernetes does. Compiling takes milliseconds, validating microseconds: keep the validator for as long as the schema.
 */
export function compileStructural(schema: JsonObject): StructuralValidator {
  const structural = schema as StructuralSchema;
  const jsonSchema = toJsonSchema(structural);
  const work = new MatchingWork();
  /** whether all errors are looked for -> the validator that does so */
  const validators = new Map<boolean, ValidateFunction>();
  const validatorFor = (allErrors: boolean): ValidateFunction => {
    const known = validators.get(allErrors);
    if (known !== undefined) return known;
    // RE2 in place of ECMAScript's.
    const regExp = Object.assign((source: string) => new Pattern(source, work), { code: 'new Pattern' });
    const ajv = new Ajv({ ...ajvOptions, allErrors, code: { regExp } });
    for (const [name, validate] of stringFormats) ajv.addFormat(name, { type: 'string', validate });
    for (const [name, validate] of numberFormats) ajv.addFormat(name, { type: 'number', validate });
    const compiled = ajv.compile(jsonSchema);
    validators.set(allErrors, compiled);
    return compiled;
  };
  return (value, path = '') => {
    const validate = validatorFor(!hasMoreValues(value, fullyJudgedValues));
    work.renew();
    try {
      const errors = validate(value) ? [] : fieldErrors(validate.errors ?? [], value, path);
      return [...errors, ...listTypeErrors(value, structural, path)];
    } catch (error) {
      if (error instanceof PatternError) return [forbiddenField(path, error.message)];
      throw error;
    }
  };
}

function hasMoreValues(value: JsonValue, limit: number): boolean {
  let left = limit;
  const count = (each: JsonValue): boolean => {
    if (--left < 0) return true;
    return typeof each === 'object' && each !== null && Object.values(each).some(count);
  };
  return count(value);
}

/** What a validation by Ajv has found, worded as Kubernetes does. */
export function fieldErrors(errors: readonly ErrorObject[], root: JsonValue, path: string): FieldError[] {
  const outer = errors
    .filter((error) => error.keyword !== 'if' && !isInsideBranch(error.schemaPath))
    .slice(0, reportedLimit);
  return outer.map((error) => fieldError(error, fieldPath(error.instancePath, root, path)));
}

/** Whether an error comes from one alternative of an anyOf, oneOf or not, rather than from the schema as a whole. */
function isInsideBranch(schemaPath: string): boolean {
  const segments = schemaPath.split('/').slice(1, -1);
  for (let index = 0; index < segments.length; index++) {
    const segment = segments[index];
    if (segment === 'anyOf' || segment === 'oneOf' || segment === 'not') return true;
    if (segment === 'properties') index++; // the next segment is a name, which may read like a keyword
  }
  return false;
}

/** `/spec/tasks/0/name` -> `spec.tasks[0].name`, by what stands there in the value. */
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

function fieldError(error: ErrorObject, field: string): FieldError {
  const value = error.data as JsonValue;
  const params = error.params as Record<string, unknown>;
  const limit = Number(params.limit);
  const invalid = (detail: string): FieldError => invalidField(field, value, `${field} in body ${detail}`);
  switch (error.keyword) {
    case 'required':
      return requiredField(childPath(field, String(params.missingProperty)));
    case 'additionalProperties': {
      const name = String(params.additionalProperty);
      const detail =
        name === 'x-kubernetes-validations'
          ? 'CEL validation rules are not supported by this API server; remove them, or use type, enum, pattern and bounds instead'
          : 'not supported in a structural schema by this API server';
      return forbiddenField(childPath(field, name), detail);
    }
    case 'type':
      return wrongType(field, value, String(error.schema).replace(/,null$/, ''));
    case 'enum':
      return unsupportedValue(field, value, error.schema as JsonValue[]);
    case 'format':
      if (params.format === patternFormat) {
        const problem = patternProblem(value as string) ?? '';
        return invalidField(field, value, `must be a valid regular expression, but ${problem}`);
      }
      return wrongFormat(field, value, String(params.format));
    case 'minimum':
      return invalid(`should be greater than or equal to ${limit}`);
    case 'exclusiveMinimum':
      return invalid(`should be greater than ${limit}`);
    case 'maximum':
      return invalid(`should be less than or equal to ${limit}`);
    case 'exclusiveMaximum':
      return invalid(`should be less than ${limit}`);
    case 'multipleOf':
      return invalid(`should be a multiple of ${String(params.multipleOf)}`);
    case 'minLength':
      return invalid(`should be at least ${limit} chars long`);
    case 'maxLength':
      return tooLong(field, limit);
    case 'pattern':
      return invalid(`should match '${String(params.pattern)}'`);
    case 'minItems':
      return invalid(`should have at least ${limit} items`);
    case 'minProperties':
      return invalid(`should have at least ${limit} properties`);
    case 'maxItems':
    case 'maxProperties':
      return tooMany(field, Object.keys(value as object).length, limit);
    case 'anyOf':
      return invalid('must validate at least one schema (anyOf)');
    case 'oneOf': {
      const found = params.passingSchemas === null ? ' Found none valid' : ' Found more than one valid';
      return invalid(`must validate one and only one schema (oneOf).${found}`);
    }
    case 'not':
      return invalid('must not validate the schema (not)');
    default:
      return invalid(`is not valid (${error.keyword} of ${typeName(value)}): ${error.message ?? ''}`);
  }
}
