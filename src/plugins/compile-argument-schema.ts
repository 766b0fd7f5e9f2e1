import { Ajv } from 'ajv';
import type { ErrorObject, Options } from 'ajv';
import { fieldSchema, isListSchema, isObject, isObjectSchema, typeFields } from './argument-schema.ts';
import type { ArgumentSchema, ObjectSchema, ReportProblem } from './argument-schema.ts';
import { expectation, found, knownFields, unknownField } from './argument-wording.ts';
import { formatFieldPath } from './field-path.ts';
import type { FieldPath } from './field-path.ts';
import type { ArgumentProblem } from './plugin-arguments-error.ts';

/** Returns all problems of arguments whose defaults are filled in, in order; empty if they are valid. */
export type ArgumentValidator = (value: unknown) => readonly ArgumentProblem[];

const ajvOptions: Options = {
  allErrors: true,
  verbose: true, // errors carry the value and its schema, which the messages need
  ownProperties: true,
  strict: true, // a likely mistake in the schema throws instead of printing a warning
  // The type of the schema already restricts its content; compiling JSON Schema's own schema takes thirty times as long.
  meta: false,
  validateSchema: false,
};

/** Takes a millisecond, so keep the result. Throws for an invalid schema, which is a defect of the plugin. */
export function compileArgumentSchema(schema: ObjectSchema): ArgumentValidator {
  const ajv = new Ajv(ajvOptions).addVocabulary(['mustBe', 'noEffect', 'check', 'uniqueBy']);
  ajv.addKeyword({ keyword: 'rejected', schemaType: 'string', validate: () => false });
  const validate = ajv.compile(schema);
  return (value) => {
    const errors = validate(value) ? [] : (validate.errors ?? []);
    validate.errors = null; // it would retain the value
    const problems: ArgumentProblem[] = [];
    const report: ReportProblem = (path, problem) => problems.push({ path, problem });
    const unreported = Map.groupBy(errors, ({ instancePath }) => instancePath);
    inspect({ schema, value, path: [], pointer: '' }, unreported, report);
    // The schema may use a keyword that ArgumentSchema does not have; report what it rejects.
    for (const [pointer, left] of unreported) reportErrors(left, pathOf(pointer, value), report);
    return problems;
  };
}

interface Location {
  readonly schema: ArgumentSchema;
  readonly value: unknown;
  readonly path: FieldPath;
  /** The path as a JSON pointer, which is how ajv identifies a location. */
  readonly pointer: string;
}

/**
 * Reports the problems of a value and everything in it: ajv's errors, uniqueBy and check. Returns whether the value is valid.
 * `unreported`: pointer -> ajv's errors; removes the errors it reports.
 */
function inspect(location: Location, unreported: Map<string, readonly ErrorObject[]>, report: ReportProblem): boolean {
  const { schema, value, path, pointer } = location;
  const errors = unreported.get(pointer) ?? [];
  unreported.delete(pointer);
  reportErrors(errors, path, report);
  let isValid = errors.length === 0;
  const descend = (segment: string | number, inner: ArgumentSchema, field: unknown): void => {
    const escaped = String(segment).replaceAll('~', '~0').replaceAll('/', '~1');
    const next = { schema: inner, value: field, path: [...path, segment], pointer: `${pointer}/${escaped}` };
    isValid = inspect(next, unreported, report) && isValid;
  };
  if (isListSchema(schema) && Array.isArray(value)) {
    for (const [index, element] of value.entries()) descend(index, schema.items, element);
    if (schema.uniqueBy !== undefined) isValid = isUnique(value, schema.uniqueBy, path, report) && isValid;
  } else if (isObjectSchema(schema) && isObject(value)) {
    for (const [name, field] of Object.entries(value)) {
      const inner = fieldSchema(schema, name);
      if (inner !== undefined) descend(name, inner, field);
    }
  }
  if (!isValid || 'rejected' in schema || schema.check === undefined) return isValid;
  schema.check(value as never, (inner, problem) => {
    isValid = false;
    report([...path, ...inner], problem);
  });
  return isValid;
}

/** Reports the errors of one value. Several keywords may produce the same message; reports it once. */
function reportErrors(errors: readonly ErrorObject[], path: FieldPath, report: ReportProblem): void {
  const reported = new Set<string>();
  for (const error of errors) {
    const schema = error.parentSchema as ArgumentSchema;
    const params = error.params as { readonly missingProperty?: string; readonly additionalProperty?: string };
    if (params.missingProperty !== undefined) {
      const inner = fieldSchema(schema as ObjectSchema, params.missingProperty);
      const advice = inner === undefined ? '' : `; it must be ${expectation(inner)}`;
      report([...path, params.missingProperty], `is missing${advice}`);
      continue;
    }
    if (params.additionalProperty !== undefined) {
      const known = knownFields(schema as ObjectSchema).filter((name) => path.length > 0 || !isTypeField(name));
      report([...path, params.additionalProperty], unknownField(params.additionalProperty, known));
      continue;
    }
    const problem = 'rejected' in schema ? schema.rejected : `must be ${expectation(schema)}, not ${found(error.data)}`;
    if (reported.has(problem)) continue;
    reported.add(problem);
    report(path, problem);
  }
}

function isTypeField(name: string): boolean {
  return (typeFields as readonly string[]).includes(name);
}

/** Reports every element that equals an earlier one in these fields. Returns whether there is none. */
function isUnique(
  list: readonly unknown[],
  fields: readonly string[],
  path: FieldPath,
  report: ReportProblem,
): boolean {
  let isValid = true;
  // field values as JSON -> index of the first element that has them
  const firstIndexes = new Map<string, number>();
  for (const [index, element] of list.entries()) {
    const values = fields.map((field) => (isObject(element) ? element[field] : undefined));
    if (!values.every((value) => typeof value === 'string' || typeof value === 'number')) continue;
    const key = JSON.stringify(values);
    const first = firstIndexes.get(key);
    if (first === undefined) {
      firstIndexes.set(key, index);
      continue;
    }
    isValid = false;
    const other = formatFieldPath([...path, first]);
    const both = values.map(found).join(' and ');
    report([...path, index], `must differ from ${other} in ${fields.join(' or ')}; both have ${both}`);
  }
  return isValid;
}

/** Returns the path of a JSON pointer into `root`. Needs `root` to tell an index from a name. */
function pathOf(pointer: string, root: unknown): FieldPath {
  const path: (string | number)[] = [];
  let value = root;
  for (const escaped of pointer.split('/').slice(1)) {
    const segment = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(value) ? Number(segment) : segment);
    value = (value as Readonly<Record<string, unknown>>)[segment];
  }
  return path;
}
