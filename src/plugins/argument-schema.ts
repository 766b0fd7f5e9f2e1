import type { FieldPath } from './field-path.ts';

/** Says what is wrong with a field; `path` begins at the value that is checked. `problem` follows the path: "must not be empty". */
export type ReportProblem = (path: FieldPath, problem: string) => void;

interface Annotations {
  readonly description?: string;
  /** What the field holds when it is absent or null. Objects in it get their own defaults as well. */
  readonly default?: unknown;
  /**
   * What is right, as it follows "must be", where that says more than the other keywords: `a resource name such as "cpu"`.
   */
  readonly mustBe?: string;
  /** What no keyword says. Asked only when the keywords are content with the value and with all in it. */
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
  /** No two elements, which are objects, may agree in all of these fields. */
  readonly uniqueBy?: readonly string[];
}

/** A field that exists elsewhere and not here, and why: "belongs to …". */
interface RejectedSchema {
  readonly rejected: string;
}

/** Anything but null, which counts as absent. */
interface AnythingSchema extends Annotations {
  readonly type?: never;
}

/** An object. Say `additionalProperties: false`, so that a misspelt field is found. */
export interface ObjectSchema extends Annotations {
  readonly type: 'object';
  readonly properties?: Readonly<Record<string, ArgumentSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties: boolean | ArgumentSchema;
}

/**
 * The JSON schema of an argument: the keywords of JSON Schema that can be told in a sentence, and a few more. There is no
 * `$ref`, so no schema is endless, and no value is looked at deeper than its schema is.
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

/** The TypeScript type of what such a schema accepts, defaults filled in. */
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

/** Names of the fields that are always there: required, or with a default. */
type Present<S, Fields> =
  | { [Name in keyof Fields]: Fields[Name] extends { readonly default: unknown } ? Name : never }[keyof Fields]
  | (S extends { readonly required: readonly (infer Name)[] } ? Name : never);

/** The schema of a field of an object; undefined for a field that is not known, or of which nothing is said. */
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

/** An object as JSON has them, which neither null nor a list is. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What every pluginConfig entry may carry beside its plugin's own fields. */
export const typeFields = ['apiVersion', 'kind'] as const;
