import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../json.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import {
  duplicateValue,
  invalidValue,
  maxProblems,
  notSupported,
  required,
  wrongFormat,
  wrongType,
} from './field-error.ts';
import type { FieldError } from './field-error.ts';
import { childPath, elementPath } from './field-path.ts';
import { numberFormats, stringFormats } from './formats.ts';
import type { Patterns } from './patterns.ts';
import type { StepLimit } from './step-limit.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** Characters of JSON text that are compared in one step. */
const charactersPerStep = 16;

/**
 * Returns the errors of a value, with Kubernetes' wording for types, formats, enums, bounds, patterns and required fields. `path` is
 * the value's own path, "" for a whole object. Stops after `maxProblems` + 1 errors. The schema must have passed `checkStructural`.
 * Throws StepLimitError.
 */
export function validateStructural(
  value: JsonValue,
  schema: JsonObject,
  path: string,
  patterns: Patterns,
  steps: StepLimit,
): FieldError[] {
  const validation = new StructuralValidation(patterns, steps);
  validation.check(value, schema, path);
  return validation.errors;
}

class StructuralValidation {
  readonly errors: FieldError[] = [];
  /** Whether the current branch of an anyOf rejects the value. Undefined outside of branches. */
  #branchRejects: boolean | undefined;
  readonly #patterns: Patterns;
  readonly #steps: StepLimit;

  constructor(patterns: Patterns, steps: StepLimit) {
    this.#patterns = patterns;
    this.#steps = steps;
  }

  check(value: JsonValue, schema: StructuralSchema, path: string): void {
    if (this.errors.length > maxProblems) return;
    this.#steps.count(1);
    if (value === null && schema.nullable === true) return;
    const types = schema['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : [schema.type ?? []].flat();
    if (types.length > 0 && !types.some((type) => hasType(value, type))) {
      this.#report(() => wrongType(path, value, types.join(',')));
      return;
    }
    this.#checkEnum(value, schema, path);
    if (typeof value === 'string') this.#checkText(value, schema, path);
    else if (typeof value === 'number') this.#checkNumber(value, schema, path);
    else if (Array.isArray(value)) this.#checkList(value, schema, path);
    else if (isObject(value)) this.#checkObject(value, schema, path);
    const hasMatch = schema.anyOf?.some((branch) => this.#isValid(value, branch)) ?? true;
    this.#require(hasMatch, value, path, () => 'must match a schema in anyOf');
  }

  #report(error: () => FieldError): void {
    if (this.#branchRejects !== undefined) this.#branchRejects = true;
    else if (this.errors.length <= maxProblems) this.errors.push(error());
  }

  #require(isValid: boolean, value: JsonValue, path: string, rule: () => string): void {
    if (!isValid) this.#report(() => invalidValue(path, value, `${path} in body ${rule()}`));
  }

  #checkEnum(value: JsonValue, { enum: supported }: StructuralSchema, path: string): void {
    if (supported === undefined) return;
    this.#steps.count(supported.length);
    if (!supported.some((each) => isDeepStrictEqual(each, value))) {
      this.#report(() => notSupported(path, value, supported));
    }
  }

  #checkText(value: string, schema: StructuralSchema, path: string): void {
    const { minLength = 0, maxLength = Infinity, pattern, format = '' } = schema;
    if (value.length > maxLength || value.length < 2 * minLength) {
      this.#steps.count(value.length / charactersPerStep);
      this.#checkSize(codePointsIn(value), [minLength, maxLength], 'characters', value, path);
    }
    if (pattern !== undefined) {
      const matches = this.#patterns.matches(pattern, value, this.#steps);
      this.#require(matches, value, path, () => `should match '${pattern}'`);
    }
    if (stringFormats.get(format)?.(value) === false) this.#report(() => wrongFormat(path, value, format));
  }

  #checkNumber(value: number, schema: StructuralSchema, path: string): void {
    const { minimum = -Infinity, maximum = Infinity, format = '' } = schema;
    this.#require(value >= minimum, value, path, () => `should be greater than or equal to ${minimum}`);
    this.#require(value <= maximum, value, path, () => `should be less than or equal to ${maximum}`);
    if (numberFormats.get(format)?.(value) === false) this.#report(() => wrongFormat(path, value, format));
  }

  #checkList(value: readonly JsonValue[], schema: StructuralSchema, path: string): void {
    const { items, minItems = 0, maxItems = Infinity } = schema;
    this.#checkSize(value.length, [minItems, maxItems], 'items', value as JsonValue, path);
    if (schema['x-kubernetes-list-type'] === 'set') {
      const duplicate = this.#firstDuplicate(value);
      if (duplicate >= 0) this.#report(() => duplicateValue(elementPath(path, duplicate), value[duplicate]!));
    }
    const keys = schema['x-kubernetes-list-map-keys'];
    if (keys !== undefined) {
      this.#steps.count(value.length * keys.length);
      const found = value.map((element) => keys.map((key) => (isObject(element) ? (element[key] ?? null) : null)));
      const rule = (): string => 'must not have two elements with the same keys';
      this.#require(this.#firstDuplicate(found) < 0, value as JsonValue, path, rule);
    }
    if (items === undefined) return;
    for (const [index, element] of value.entries()) this.check(element, items, elementPath(path, index));
  }

  /** Returns the index of the first element that equals an earlier one, or -1. */
  #firstDuplicate(list: readonly JsonValue[]): number {
    const seen = new Set<string>();
    return list.findIndex((element) => {
      const text = JSON.stringify(element);
      this.#steps.count(text.length / charactersPerStep);
      return seen.size === seen.add(text).size;
    });
  }

  #checkObject(value: JsonObject, schema: StructuralSchema, path: string): void {
    const { properties = {}, additionalProperties } = schema;
    this.#steps.count(schema.required?.length ?? 0);
    for (const field of schema.required ?? []) {
      if (!Object.hasOwn(value, field)) this.#report(() => required(childPath(path, field)));
    }
    for (const [key, child] of Object.entries(value)) {
      if (Object.hasOwn(properties, key)) this.check(child, properties[key]!, childPath(path, key));
      else if (typeof additionalProperties === 'object') this.check(child, additionalProperties, childPath(path, key));
    }
  }

  #checkSize(size: number, [min, max]: readonly [number, number], unit: string, value: JsonValue, path: string): void {
    this.#require(size >= min, value, path, () => `must NOT have fewer than ${min} ${unit}`);
    this.#require(size <= max, value, path, () => `must NOT have more than ${max} ${unit}`);
  }

  /** Returns whether a branch accepts the value. The keyword of the branch reports an error, not the branch. */
  #isValid(value: JsonValue, branch: StructuralSchema): boolean {
    const outer = this.#branchRejects;
    this.#branchRejects = false;
    this.check(value, branch, '');
    const isValid = !this.#branchRejects;
    this.#branchRejects = outer;
    return isValid;
  }
}

function hasType(value: JsonValue, type: string): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    default:
      return typeof value === type;
  }
}

function codePointsIn(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += text.codePointAt(at)! > 0xffff ? 2 : 1) count++;
  return count;
}
