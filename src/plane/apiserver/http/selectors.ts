import { compileLabelSelector, SelectorError } from '../../../api/label-selector.ts';
import type { LabelPredicate, Labels, LabelSelectorRequirement } from '../../../api/label-selector.ts';
import type { JsonObject } from '../json.ts';
import { badRequest } from './api-error.ts';

/** Returns whether a selector selects the object. */
export type ObjectPredicate = (object: JsonObject) => boolean;

/**
 * Parses a label selector (`a=b,c!=d,e in (f,g),h notin (i),j,!k`). Returns undefined if it selects everything. Throws 400 and
 * names the part that cannot be parsed.
 */
export function parseLabelSelector(text: string | undefined): ObjectPredicate | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const tests = splitOutsideParentheses(text).map(compilePart);
  return (object) => {
    const labels = (object.metadata as JsonObject).labels as Labels | undefined;
    return tests.every((test) => test(labels));
  };
}

function compilePart(text: string): LabelPredicate {
  const part = text.trim();
  try {
    return compileLabelSelector({ matchExpressions: [readRequirement(part)] });
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    throw badRequest(
      `unable to parse requirement ${JSON.stringify(part)}: want KEY, !KEY, KEY=VALUE, KEY!=VALUE, KEY in (A,B) or KEY notin (A,B)`,
    );
  }
}

function readRequirement(part: string): LabelSelectorRequirement {
  const set = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(part);
  if (set !== null) {
    const [, key = '', operator, values = ''] = set;
    return { key, operator: operator === 'in' ? 'In' : 'NotIn', values: values.split(',').map((each) => each.trim()) };
  }
  const equality = /^([^=!\s]+)\s*(==|=|!=)([^=!]*)$/.exec(part);
  if (equality !== null) {
    const [, key = '', operator, value = ''] = equality;
    return { key, operator: operator === '!=' ? 'NotIn' : 'In', values: [value.trim()] };
  }
  if (part.startsWith('!')) return { key: part.slice(1).trim(), operator: 'DoesNotExist' };
  return { key: part, operator: 'Exists' };
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
export function parseFieldSelector(text: string | undefined, fields: SelectableFields): FieldSelector | undefined {
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
    if (!Object.hasOwn(fields, field)) throw badRequest(`field label not supported: ${field}`);
    if (operator !== '!=') equals.set(field, value);
    return { valueOf: fields[field]!, equal: operator !== '!=', value };
  });
  return {
    equals,
    matches: (object) => terms.every((term) => (term.valueOf(object) === term.value) === term.equal),
  };
}
