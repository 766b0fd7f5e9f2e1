import type { ArgumentSchema, ObjectSchema } from './argument-schema.ts';
import { closestName } from '../base/closest-name.ts';
import { shortText } from './field-path.ts';

/** Describes a valid value, to follow "must be". */
export function expectation(schema: ArgumentSchema): string {
  if ('rejected' in schema) return 'absent';
  if (schema.mustBe !== undefined) return schema.mustBe;
  if ('enum' in schema) return alternatives(schema.enum.map(String));
  switch (schema.type) {
    case 'string':
      if (schema.pattern !== undefined) return `a string that matches ${schema.pattern}`;
      return `a string${range(schema.minLength, schema.maxLength, 'character')}`;
    case 'integer':
      return `a whole number${range(schema.minimum, schema.maximum)}`;
    case 'number':
      return `a number${range(schema.minimum, schema.maximum)}`;
    case 'boolean':
      return 'true or false';
    case 'array':
      return `a list${range(schema.minItems, schema.maxItems, 'element')}`;
    case 'object':
      return 'an object';
    case undefined:
      return 'something else';
  }
}

/** Returns ` from 1 to 100` or ` of at least 1 element`; empty without bounds. */
function range(min: number | undefined, max: number | undefined, unit?: string): string {
  const counted = (bound: number): string =>
    unit === undefined ? `${bound}` : `${bound} ${bound === 1 ? unit : `${unit}s`}`;
  if (min !== undefined && max !== undefined) {
    return `${unit === undefined ? ' from' : ' of'} ${min} to ${counted(max)}`;
  }
  if (min !== undefined) return ` of at least ${counted(min)}`;
  return max === undefined ? '' : ` of at most ${counted(max)}`;
}

function alternatives(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

/** Describes an invalid value, to follow "not". Always short. */
export function found(value: unknown): string {
  if (typeof value === 'string') return shortText(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}

/** Describes an unknown field of an object. `known` are the fields that a user may set. */
export function unknownField(field: string, known: readonly string[]): string {
  if (known.length === 0) return 'is not a known field; no field can be set here';
  const meant = closestName(field, known);
  if (meant !== undefined && known.length === 1) return `is not a known field; did you mean ${meant}?`;
  const list = known.length === 1 ? `the only field is ${known[0]}` : `the fields are ${known.join(', ')}`;
  return meant === undefined
    ? `is not a known field; ${list}`
    : `is not a known field; did you mean ${meant}? ${capitalized(list)}`;
}

function capitalized(sentence: string): string {
  return sentence.slice(0, 1).toUpperCase() + sentence.slice(1);
}

/** Returns the fields of an object that a user may set. */
export function knownFields({ properties = {} }: ObjectSchema): readonly string[] {
  return Object.keys(properties).filter((name) => !('rejected' in properties[name]!));
}
