import type { ArgumentSchema, ObjectSchema } from '../../src/plugins/argument-schema.ts';
import { isListSchema, isObjectSchema } from '../../src/plugins/argument-schema.ts';
import { code, codes } from './markdown.ts';

/** A field of a configuration: `profiles[].schedulerName`. */
export interface SchemaRow {
  readonly path: string;
  /** The type and its constraints, in words. */
  readonly type: string;
  /** The default in the schema, if any. */
  readonly byDefault: unknown;
  /** Whether the field is required if its parent is present. */
  readonly isRequired: boolean;
}

/** A rejected field and the reason: it "belongs to …". */
export interface RejectedRow {
  readonly path: string;
  readonly rejected: string;
}

/** Returns the leaf fields of a schema, in its order. */
export function schemaRows(schema: ArgumentSchema, path = '', isRequired = false): (SchemaRow | RejectedRow)[] {
  if ('rejected' in schema) return [{ path, rejected: schema.rejected }];
  if (isObjectSchema(schema)) {
    const { properties = {}, required = [], default: byDefault } = schema;
    const inside = Object.entries(properties).flatMap(([name, inner]) =>
      schemaRows(inner, path === '' ? name : `${path}.${name}`, required.includes(name)),
    );
    return byDefault === undefined ? inside : [{ path, type: 'an object', byDefault, isRequired }, ...inside];
  }
  if (isListSchema(schema) && isObjectSchema(schema.items)) {
    const type = `a list${uniqueness(schema.uniqueBy)}`;
    return [{ path, type, byDefault: schema.default, isRequired }, ...schemaRows(schema.items, `${path}[]`)];
  }
  return [{ path, type: typeOf(schema), byDefault: schema.default, isRequired }];
}

function typeOf(schema: Exclude<ArgumentSchema, { readonly rejected: string } | ObjectSchema>): string {
  if (schema.mustBe !== undefined) return schema.mustBe;
  if ('enum' in schema) return `one of ${codes(schema.enum.map(String))}`;
  if (isListSchema(schema)) return `a list, each ${listed(schema.items)}`;
  switch (schema.type) {
    case 'boolean':
      return 'true or false';
    case 'string':
      return 'string';
    case 'integer':
      return `a whole number${range(schema.minimum, schema.maximum)}`;
    case 'number':
      return `a number${range(schema.minimum, schema.maximum)}`;
    default:
      return 'any value';
  }
}

function listed(items: ArgumentSchema): string {
  return 'rejected' in items || isObjectSchema(items) ? '' : typeOf(items);
}

function range(minimum: number | undefined, maximum: number | undefined): string {
  if (minimum === undefined) return maximum === undefined ? '' : ` of at most ${maximum}`;
  return maximum === undefined ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`;
}

function uniqueness(fields: readonly string[] = []): string {
  return fields.length === 0 ? '' : `, no two with the same ${codes(fields)}`;
}

/** Returns the text of the type column. */
export function requirement({ type, isRequired }: SchemaRow): string {
  return isRequired ? `${type}; required` : type;
}

/** Returns a default in the flow style of YAML, such as `{type: LeastAllocated}`. */
export function shownDefault(value: unknown): string {
  return value === undefined ? '' : code(JSON.stringify(value).replaceAll('"', ''));
}
