import type { JsonObject } from '../json.ts';
import { badRequest } from './api-error.ts';

/** Returns whether a selector selects the object. */
export type ObjectPredicate = (object: JsonObject) => boolean;

interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Greater' | 'Less';
  readonly values: readonly string[];
}

const labelKey = /^([a-z0-9A-Z]([-a-z0-9A-Z.]*[a-z0-9A-Z])?\/)?[a-z0-9A-Z]([-a-z0-9A-Z_.]{0,61}[a-z0-9A-Z])?$/;
const labelValue = /^([a-z0-9A-Z]([-a-z0-9A-Z_.]{0,61}[a-z0-9A-Z])?)?$/;

/**
 * Parses a label selector (`a=b,c!=d,e in (f,g),h notin (i),j,!k`). Returns undefined if it selects everything. Throws 400 and
 * names the part that cannot be parsed.
 */
export function parseLabelSelector(text: string | undefined): ObjectPredicate | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const requirements = splitOutsideParentheses(text).map(parseLabelRequirement);
  return (object) => {
    const labels = ((object.metadata as JsonObject).labels ?? {}) as Record<string, string>;
    return requirements.every((requirement) => labelMatches(labels, requirement));
  };
}

function parseLabelRequirement(text: string): LabelRequirement {
  const part = text.trim();
  const fail = (): never => {
    throw badRequest(
      `unable to parse requirement ${JSON.stringify(part)}: want KEY, !KEY, KEY=VALUE, KEY!=VALUE, KEY in (A,B) or KEY notin (A,B)`,
    );
  };
  let requirement: LabelRequirement | undefined;
  const set = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(part);
  const equality = /^([^=!<>\s]+)\s*(==|=|!=|<|>)\s*([^=!<>]*)$/.exec(part);
  if (set) {
    const values = set[3]!.split(',').map((value) => value.trim());
    requirement = { key: set[1]!, operator: set[2] === 'in' ? 'In' : 'NotIn', values };
  } else if (equality) {
    const operators = { '=': 'In', '==': 'In', '!=': 'NotIn', '>': 'Greater', '<': 'Less' } as const;
    const value = equality[3]!.trim();
    requirement = { key: equality[1]!, operator: operators[equality[2] as keyof typeof operators], values: [value] };
  } else if (part.startsWith('!')) {
    requirement = { key: part.slice(1).trim(), operator: 'DoesNotExist', values: [] };
  } else {
    requirement = { key: part, operator: 'Exists', values: [] };
  }
  const isWellFormed = labelKey.test(requirement.key) && requirement.values.every((value) => labelValue.test(value));
  return isWellFormed ? requirement : fail();
}

function labelMatches(labels: Record<string, string>, requirement: LabelRequirement): boolean {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
  switch (requirement.operator) {
    case 'In':
      return value !== undefined && requirement.values.includes(value);
    case 'NotIn':
      return value === undefined || !requirement.values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Greater':
      return value !== undefined && Number(value) > Number(requirement.values[0]);
    case 'Less':
      return value !== undefined && Number(value) < Number(requirement.values[0]);
  }
}

/** Splits at commas outside parentheses. */
function splitOutsideParentheses(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let isInside = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '(') isInside = true;
    else if (character === ')') isInside = false;
    else if (character === ',' && !isInside) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

/** Field label -> its value in an object, as text. */
export type SelectableFields = Readonly<Record<string, (object: JsonObject) => string>>;

/** A parsed field selector: the predicate, and the values that an index may look up. */
export interface FieldSelector {
  readonly matches: ObjectPredicate;
  /** field label -> required value */
  readonly equals: ReadonlyMap<string, string>;
}

/** Parses a field selector (`a=b,c!=d`). Returns undefined if it selects everything. Throws 400 for a field that is not in `fields`. */
export function parseFieldSelector(
  text: string | undefined,
  fields: SelectableFields,
  isCustom: boolean,
): FieldSelector | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const equals = new Map<string, string>();
  const terms = text.split(',').map((term) => {
    const parsed = /^([^=!]+)(==|=|!=)(.*)$/.exec(term.trim());
    if (!parsed) {
      throw badRequest(
        `invalid field selector ${JSON.stringify(text)}: ${JSON.stringify(term)} is not FIELD=VALUE or FIELD!=VALUE`,
      );
    }
    const [, field, operator, value] = parsed as unknown as [string, string, string, string];
    if (!Object.hasOwn(fields, field)) {
      throw badRequest(unknownField(field, fields, isCustom));
    }
    if (operator !== '!=') equals.set(field, value);
    return { valueOf: fields[field]!, equal: operator !== '!=', value };
  });
  return {
    equals,
    matches: (object) => terms.every((term) => (term.valueOf(object) === term.value) === term.equal),
  };
}

/** Returns the message for an unknown field. As in kube-apiserver, it lists the known fields only for built-in kinds whose selectable fields are all metadata. */
function unknownField(field: string, fields: SelectableFields, isCustom: boolean): string {
  const known = Object.keys(fields);
  if (isCustom || known.some((each) => !each.startsWith('metadata.'))) return `field label not supported: ${field}`;
  return `"${field}" is not a known field selector: only ${known.map((each) => JSON.stringify(each)).join(', ')}`;
}
