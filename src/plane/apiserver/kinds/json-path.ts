import { isObject } from '../json.ts';
import type { JsonValue } from '../json.ts';

/** Maximum number of characters of a path. */
const maxLength = 1_000;
/** One step: a field, or the elements of a list whose field equals a text. */
const stepPattern = /\.(?<field>[\w-]+)|\[\?\(@\.(?<key>[\w-]+)=="(?<wanted>[^"]*)"\)\]/g;

/** Finds values in a document. */
export type JsonPath = (document: JsonValue) => JsonValue[];

/**
 * Compiles the subset of JSONPath that the printer columns of most CustomResourceDefinitions use: `.a.b` and `[?(@.a=="b")]`. Returns
 * undefined for any other text, and for one that is too long.
 */
export function compileJsonPath(text: string): JsonPath | undefined {
  if (text === '' || text.length > maxLength) return undefined;
  const steps = [...text.matchAll(stepPattern)];
  if (steps.map(([step]) => step).join('') !== text) return undefined;
  return (document) =>
    steps.reduce<JsonValue[]>(
      (values, { groups = {} }) => values.flatMap((value) => advance(value, groups)),
      [document],
    );
}

function advance(value: JsonValue, { field, key, wanted }: Readonly<Record<string, string>>): JsonValue[] {
  if (field !== undefined) return isObject(value) && Object.hasOwn(value, field) ? [value[field]!] : [];
  return Array.isArray(value) ? value.filter((item) => isObject(item) && item[key!] === wanted) : [];
}
