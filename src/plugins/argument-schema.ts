import type { FieldPath } from './field-path.ts';

/** Reports a problem with a field. `path` starts at the checked value; `problem` continues a sentence: "must not be empty". */
export type ReportProblem = (path: FieldPath, problem: string) => void;

interface Annotations {
  readonly description?: string;
  /** Value of the field when it is absent or null. Objects in it also get their own defaults. */
  readonly default?: unknown;
  /** Description of a valid value that follows "must be", if the other keywords don't suffice: `a resource name such as "cpu"`. */
  readonly mustBe?: string;
  /** The field is accepted for compatibility and has no effect. Says why, for a warning: "Tutti considers every node". */
  readonly noEffect?: string;
  /** Validation beyond the keywords. Runs only if the keywords accept the value and everything in it. */
  readonly check?: (value: never, report: ReportProblem) => void;
}

interface ChoiceSchema extends Annotations {
  readonly enum: readonly (string | number | boolean)[];
}

interface StringSchema extends Annotations {
  readonly type: 'string';
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

interface NumberSchema extends Annotations {
  readonly type: 'integer' | 'number';
  readonly minimum?: number;
  readonly maximum?: number;
}

interface BooleanSchema extends Annotations {
  readonly type: 'boolean';
}

interface ListSchema extends Annotations {
  readonly type: 'array';
  readonly items: ArgumentSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** The elements must be objects; no two of them may be equal in all of these fields. */
  readonly uniqueBy?: readonly string[];
}

/** A field that another version or object has but this one does not. `rejected` says why: "belongs to …". */
interface RejectedSchema {
  readonly rejected: string;
}

/** Any value except null, which counts as absent. */
interface AnythingSchema extends Annotations {
  readonly type?: never;
}

/** An object. Set `additionalProperties: false` to report misspelled fields. */
export interface ObjectSchema extends Annotations {
  readonly type: 'object';
  readonly properties?: Readonly<Record<string, ArgumentSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties: boolean | ArgumentSchema;
}

/**
 * JSON schema of an argument. Supports the keywords that an error message can describe, and a few of its own. `$ref` is not supported, so
 * schemas are finite, and validation goes no deeper into a value than its schema.
 */
export type ArgumentSchema =
  | ChoiceSchema
  | StringSchema
  | NumberSchema
  | BooleanSchema
  | ListSchema
  | ObjectSchema
  | RejectedSchema
  | AnythingSchema;

/** TypeScript type of the values that a schema accepts, with defaults filled in. */
export type ValueOf<S> = S extends { readonly rejected: string }
  ? never
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly type: 'string' }
      ? string
      : S extends { readonly type: 'integer' | 'number' }
        ? number
        : S extends { readonly type: 'boolean' }
          ? boolean
          : S extends { readonly type: 'array'; readonly items: infer Items }
            ? readonly ValueOf<Items>[]
            : S extends { readonly type: 'object' }
              ? FieldsOf<S>
              : unknown;

type FieldsOf<S> = S extends { readonly properties: infer Fields }
  ? { readonly [Name in keyof Fields as Name extends Present<S, Fields> ? Name : never]: ValueOf<Fields[Name]> } & {
      readonly [Name in keyof Fields as Name extends Present<S, Fields> ? never : Name]?: ValueOf<Fields[Name]>;
    }
  : Readonly<Record<string, unknown>>;

/** Names of the fields that are always present: required, or with a default. */
type Present<S, Fields> =
  | { [Name in keyof Fields]: Fields[Name] extends { readonly default: unknown } ? Name : never }[keyof Fields]
  | (S extends { readonly required: readonly (infer Name)[] } ? Name : never);

/** Returns the schema of an object's field; undefined for an unknown field or one without a schema. */
export function fieldSchema(schema: ObjectSchema, name: string): ArgumentSchema | undefined {
  const { properties = {}, additionalProperties } = schema;
  if (Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

export function isObjectSchema(schema: ArgumentSchema): schema is ObjectSchema {
  return 'type' in schema && schema.type === 'object';
}

export function isListSchema(schema: ArgumentSchema): schema is ListSchema {
  return 'type' in schema && schema.type === 'array';
}

/** Returns whether the value is a JSON object, that is, neither null nor a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Fields that every pluginConfig entry may have besides the plugin's own fields. */
export const typeFields = ['apiVersion', 'kind'] as const;
