import type { JsonValue } from './json.ts';

/**
 * How many lists and objects may stand one inside the other in a body, and in what patches make of an object. Everything here that walks
 * through values by calling itself has room for it.
 */
export const nestingLimit = 256;
/**
 * How many values a body or an object may have: scalars, lists and objects, each counted. Judging and storing one takes about ten
 * microseconds, and nobody else is served meanwhile. The largest real objects, definitions of many versions, have some ten thousand.
 */
export const valuesLimit = 50_000;

/** Something nests deeper, or has more values, than is allowed. */
export class ComplexityError extends Error {
  override readonly name = 'ComplexityError';
  readonly kind: 'nesting' | 'values';

  constructor(kind: ComplexityError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

function nestedTooDeeply(limit: number): ComplexityError {
  return new ComplexityError('nesting', `its lists and objects are nested more than ${limit} levels deep`);
}

export function tooManyValues(): ComplexityError {
  return new ComplexityError('values', `it has more than ${valuesLimit} values`);
}

/** The number of values. Throws ComplexityError. */
export function rejectComplexity(whole: JsonValue, limit: number): number {
  let values = 0;
  const check = (value: JsonValue, outer: number): void => {
    if (++values > valuesLimit) throw tooManyValues();
    if (typeof value !== 'object' || value === null) return;
    if (outer >= limit) throw nestedTooDeeply(limit);
    if (Array.isArray(value)) for (const element of value) check(element, outer + 1);
    else for (const key in value) check(value[key]!, outer + 1);
  };
  check(whole, 0);
  return values;
}
