import type { JsonValue } from '../json.ts';

type Step =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'all' }
  | { readonly type: 'filter'; readonly path: readonly Step[]; readonly equal: boolean; readonly value: JsonValue };

/** Maximum number of characters of a path. */
const maxLength = 1_000;

/** Finds values in a document. */
export type JsonPath = (document: JsonValue) => JsonValue[];

/**
 * Compiles the subset of JSONPath that printer columns and selectable fields use: `.a.b`, `['a.b']`, `[0]`, `[*]` and
 * `[?(@.a=="b")]`. Returns undefined for any other text, and for one that is too long.
 */
export function compileJsonPath(text: string): JsonPath | undefined {
  if (text.length > maxLength) return undefined;
  const steps = parseSteps(
    text
      .trim()
      .replace(/^\{(.*)\}$/, '$1')
      .replace(/^\$/, ''),
  );
  return steps && ((document) => evaluate(steps, document));
}

function parseSteps(text: string): Step[] | undefined {
  const steps: Step[] = [];
  let rest = text;
  while (rest !== '') {
    const field = /^\.((?:[^.[\]\\]|\\.)+)/.exec(rest);
    const quoted = /^\[(?:'([^']*)'|"([^"]*)")\]/.exec(rest);
    const index = /^\[(-?\d+)\]/.exec(rest);
    const all = /^(\[\*\]|\.\*)/.exec(rest);
    const filter = /^\[\?\(\s*@([^=!]+)(==|!=)\s*(?:"([^"]*)"|'([^']*)'|([^)"'\s]+))\s*\)\]/.exec(rest);
    if (all) steps.push({ type: 'all' });
    else if (field) steps.push({ type: 'field', name: field[1]!.replaceAll(/\\(.)/g, '$1') });
    else if (quoted) steps.push({ type: 'field', name: quoted[1] ?? quoted[2]! });
    else if (index) steps.push({ type: 'index', index: Number(index[1]) });
    else if (filter) {
      const path = parseSteps(filter[1]!.trimEnd());
      if (path === undefined) return undefined;
      steps.push({
        type: 'filter',
        path,
        equal: filter[2] === '==',
        value: literal(filter[3] ?? filter[4], filter[5]),
      });
    } else return undefined;
    rest = rest.slice((all ?? field ?? quoted ?? index ?? filter)![0].length);
  }
  return steps;
}

function literal(quoted: string | undefined, bare: string | undefined): JsonValue {
  if (quoted !== undefined) return quoted;
  if (bare === 'true' || bare === 'false') return bare === 'true';
  const number = Number(bare);
  return Number.isNaN(number) ? (bare ?? null) : number;
}

function evaluate(steps: readonly Step[], document: JsonValue): JsonValue[] {
  let values: JsonValue[] = [document];
  for (const step of steps) values = values.flatMap((value) => advance(step, value));
  return values;
}

function advance(step: Step, value: JsonValue): JsonValue[] {
  if (typeof value !== 'object' || value === null) return [];
  switch (step.type) {
    case 'field':
      return !Array.isArray(value) && Object.hasOwn(value, step.name) ? [value[step.name]!] : [];
    case 'index': {
      const item = Array.isArray(value) ? value.at(step.index) : undefined;
      return item === undefined ? [] : [item];
    }
    case 'all':
      return Object.values(value);
    case 'filter':
      return Object.values(value).filter((item) => {
        const found = evaluate(step.path, item)[0];
        return (found === step.value) === step.equal;
      });
  }
}
