/** What this file reads of a JSON Schema. */
export interface FieldSchema {
  readonly $ref?: string;
  readonly definitions?: Readonly<Record<string, FieldSchema>>;
  readonly anyOf?: readonly FieldSchema[];
  readonly allOf?: readonly FieldSchema[];
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly additionalProperties?: boolean | FieldSchema;
  readonly items?: FieldSchema;
}

const definitionPrefix = '#/definitions/';

/** Returns the value without the fields that the schema does not name, at any depth. An object whose fields the schema leaves open keeps all. */
export function knownFields(value: unknown, root: FieldSchema): unknown {
  const known = (part: unknown, schemas: readonly FieldSchema[]): unknown => {
    if (typeof part !== 'object' || part === null) return part;
    const alternatives = schemas.flatMap((schema) => alternativesOf(schema, root));
    if (Array.isArray(part)) {
      const items = alternatives.flatMap((schema) => schema.items ?? []);
      return part.map((item) => known(item, items));
    }
    if (alternatives.every((schema) => schema.properties === undefined && valuesOf(schema) === undefined)) return part;
    return Object.fromEntries(
      Object.entries(part).flatMap(([name, field]) => {
        const ofField = alternatives.flatMap((schema) => propertyOf(schema, name) ?? valuesOf(schema) ?? []);
        return ofField.length === 0 ? [] : [[name, known(field, ofField)]];
      }),
    );
  };
  return known(value, [root]);
}

function alternativesOf(schema: FieldSchema, root: FieldSchema): readonly FieldSchema[] {
  const { $ref, anyOf = [], allOf = [] } = schema;
  const referred =
    $ref === undefined ? undefined : root.definitions?.[decodeURIComponent($ref.slice(definitionPrefix.length))];
  const parts = [...(referred === undefined ? [] : [referred]), ...anyOf, ...allOf];
  return [schema, ...parts.flatMap((part) => alternativesOf(part, root))];
}

function propertyOf({ properties }: FieldSchema, name: string): FieldSchema | undefined {
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** Returns the schema of the values of a map. */
function valuesOf({ additionalProperties: values }: FieldSchema): FieldSchema | undefined {
  return typeof values === 'object' ? values : undefined;
}
