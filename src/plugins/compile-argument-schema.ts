import { Ajv } from 'ajv';
import type { ErrorObject, Options } from 'ajv';
import { fieldSchema, isListSchema, isObject, isObjectSchema, typeFields } from './argument-schema.ts';
import type { ArgumentSchema, ObjectSchema, ReportProblem } from './argument-schema.ts';
import { expectation, found, knownFields, unknownField } from './argument-wording.ts';
import { formatFieldPath } from './field-path.ts';
import type { FieldPath } from './field-path.ts';
import type { ArgumentProblem } from './plugin-arguments-error.ts';

/** Everything that is wrong with arguments whose defaults are filled in, in their order; empty when they are right. */
export type ArgumentValidator = (value: unknown) => readonly ArgumentProblem[];

const ajvOptions: Options = {
  allErrors: true,
  verbose: true, // errors carry the value and its schema, of which the sentences are made
  ownProperties: true,
  strict: true, // what looks like a mistake in the schema is one, and is thrown, not printed
  // The schema's type has said what may stand in it; to compile JSON Schema's own schema takes thirty times as long.
  meta: false,
  validateSchema: false,
};

/** Takes a millisecond: keep the answer. Throws for a schema that is none, which is a defect of the plugin. */
export function compileArgumentSchema(schema: ObjectSchema): ArgumentValidator {
  const ajv = new Ajv(ajvOptions).addVocabulary(['mustBe', 'check', 'uniqueBy']);
  ajv.addKeyword({ keyword: 'rejected', schemaType: 'string', validate: () => false });
  const validate = ajv.compile(schema);
  return (value) => {
    const errors = validate(value) ? [] : (validate.errors ?? []);
    validate.errors = null; // it would keep the value
    const problems: ArgumentProblem[] = [];
    const report: ReportProblem = (path, problem) => problems.push({ path, problem });
    const open = Map.groupBy(errors, ({ instancePath }) => instancePath);
    inspect({ schema, value, path: [], pointer: '' }, open, report);
    // A keyword that ArgumentSchema does not have may lead elsewhere; what it rejects is rejected.
    for (const [pointer, left] of open) reportErrors(left, pathOf(pointer, value), report);
    return problems;
  };
}

interface Place {
  readonly schema: ArgumentSchema;
  readonly value: unknown;
  readonly path: FieldPath;
  /** The same as a JSON pointer, which is how ajv names it. */
  readonly pointer: string;
}

/**
 * Reports what is wrong with a value and all in it, and answers whether nothing is. `open` maps pointer -> ajv's errors; what is
 * reported is taken out of it. To ajv's come uniqueBy and check.
 */
function inspect(place: Place, open: Map<string, readonly ErrorObject[]>, report: ReportProblem): boolean {
  const { schema, value, path, pointer } = place;
  const errors = open.get(pointer) ?? [];
  open.delete(pointer);
  reportErrors(errors, path, report);
  let isRight = errors.length === 0;
  const descend = (segment: string | number, inner: ArgumentSchema, field: unknown): void => {
    const escaped = String(segment).replaceAll('~', '~0').replaceAll('/', '~1');
    const next = { schema: inner, value: field, path: [...path, segment], pointer: `${pointer}/${escaped}` };
    isRight = inspect(next, open, report) && isRight;
  };
  if (isListSchema(schema) && Array.isArray(value)) {
    for (const [index, element] of value.entries()) descend(index, schema.items, element);
    if (schema.uniqueBy !== undefined) isRight = isUnique(value, schema.uniqueBy, path, report) && isRight;
  } else if (isObjectSchema(schema) && isObject(value)) {
    for (const [name, field] of Object.entries(value)) {
      const inner = fieldSchema(schema, name);
      if (inner !== undefined) descend(name, inner, field);
    }
  }
  if (!isRight || 'rejected' in schema || schema.check === undefined) return isRight;
  schema.check(value as never, (inner, problem) => {
    isRight = false;
    report([...path, ...inner], problem);
  });
  return isRight;
}

/** Of one value. Several of its keywords may make the same sentence, which is said once. */
function reportErrors(errors: readonly ErrorObject[], path: FieldPath, report: ReportProblem): void {
  const said = new Set<string>();
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
    if (said.has(problem)) continue;
    said.add(problem);
    report(path, problem);
  }
}

function isTypeField(name: string): boolean {
  return (typeFields as readonly string[]).includes(name);
}

/** Every element that is like an earlier one in these fields is reported. */
function isUnique(
  list: readonly unknown[],
  fields: readonly string[],
  path: FieldPath,
  report: ReportProblem,
): boolean {
  let isRight = true;
  // The fields' values -> the first element that has them
  const firsts = new Map<string, number>();
  for (const [index, element] of list.entries()) {
    const values = fields.map((field) => (isObject(element) ? element[field] : undefined));
    if (!values.every((value) => typeof value === 'string' || typeof value === 'number')) continue;
    const key = JSON.stringify(values);
    const first = firsts.get(key);
    if (first === undefined) {
      firsts.set(key, index);
      continue;
    }
    isRight = false;
    const other = formatFieldPath([...path, first]);
    const both = values.map(found).join(' and ');
    report([...path, index], `must differ from ${other} in ${fields.join(' or ')}; both have ${both}`);
  }
  return isRight;
}

/** Of a JSON pointer into `root`, which alone says whether a segment is an index or a name. */
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
