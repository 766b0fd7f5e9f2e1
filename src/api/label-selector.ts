import type { NodeSelectorRequirement, NodeSelectorTerm } from './node-selector.ts';
import { isLabelValue, isQualifiedName } from './qualified-name.ts';

/** label key -> value */
export type Labels = Readonly<Record<string, string>>;

export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Kubernetes' metav1.LabelSelector: all of matchLabels and all of matchExpressions must hold. */
export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

export type LabelPredicate = (labels: Labels | undefined) => boolean;

/** The parts of a node that node selector terms test. */
export interface SelectableNode {
  readonly name: string;
  readonly labels: Labels;
}

export type NodePredicate = (node: SelectableNode) => boolean;

/** An invalid selector. The message names the field path below the selector. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';
  /** For example matchExpressions[0].operator. */
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path} ${problem}`);
    this.path = path;
  }
}

/**
 * Compiles a label selector to a predicate. As in Kubernetes, an absent selector matches nothing, an empty selector matches everything, and
 * NotIn also matches if the key is absent. Throws SelectorError if the selector is invalid.
 */
export function compileLabelSelector(selector: LabelSelector | null | undefined): LabelPredicate {
  if (selector === null || selector === undefined) return () => false;
  const tests: LabelPredicate[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    checkKey(key, 'matchLabels');
    if (typeof value !== 'string') throw new SelectorError(`matchLabels[${JSON.stringify(key)}]`, 'must be a string');
    tests.push((labels) => labels?.[key] === value);
  }
  for (const [index, requirement] of listOf(selector.matchExpressions, 'matchExpressions').entries()) {
    tests.push(compileRequirement(requirement, `matchExpressions[${index}]`, labelOperators));
  }
  return allOf(tests);
}

/** Like `compileLabelSelector`, for a selector at `path` of a larger object. Paths of SelectorErrors start with `path`. */
export function compileLabelSelectorAt(selector: LabelSelector | null | undefined, path: string): LabelPredicate {
  try {
    return compileLabelSelector(selector);
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    // The message starts with the path.
    throw new SelectorError(`${path}.${error.path}`, error.message.slice(error.path.length + 1));
  }
}

/**
 * Compiles a node selector term: all label expressions and all fields (only metadata.name) must match. As in Kubernetes, an empty term
 * matches nothing. Throws SelectorError if the term is invalid.
 */
export function compileNodeSelectorTerm(term: NodeSelectorTerm): NodePredicate {
  const labelTests = listOf(term.matchExpressions, 'matchExpressions').map((requirement, index) =>
    compileRequirement(requirement, `matchExpressions[${index}]`, nodeOperators),
  );
  const fieldTests = listOf(term.matchFields, 'matchFields').map((requirement, index) =>
    compileField(requirement, `matchFields[${index}]`),
  );
  if (labelTests.length === 0 && fieldTests.length === 0) return () => false;
  const labelsMatch = allOf(labelTests);
  return (node) => fieldTests.every((test) => test(node)) && labelsMatch(node.labels);
}

const labelOperators: readonly string[] = ['In', 'NotIn', 'Exists', 'DoesNotExist'];
const nodeOperators: readonly string[] = [...labelOperators, 'Gt', 'Lt'];

/** Returns the value of a label. A key such as "constructor" must not find an inherited property. */
function valueOf(labels: Labels | undefined, key: string): string | undefined {
  const value: unknown = labels?.[key];
  return typeof value === 'string' ? value : undefined;
}

function allOf(tests: readonly LabelPredicate[]): LabelPredicate {
  if (tests.length === 0) return () => true;
  if (tests.length === 1) return tests[0]!;
  return (labels) => tests.every((test) => test(labels));
}

function listOf<T>(value: readonly T[] | null | undefined, path: string): readonly T[] {
  const given: unknown = value;
  if (!Array.isArray(given ?? [])) throw new SelectorError(path, 'must be a list');
  return value ?? [];
}

function compileRequirement(
  requirement: LabelSelectorRequirement,
  path: string,
  operators: readonly string[],
): LabelPredicate {
  const { key, operator } = requirement;
  checkKey(key, `${path}.key`);
  const values = listOf(requirement.values, `${path}.values`);
  if (!values.every((value) => typeof value === 'string')) throw new SelectorError(`${path}.values`, 'must be strings');
  const invalid = values.find((value) => !isLabelValue(value));
  if (invalid !== undefined) {
    const shown = JSON.stringify(invalid.length > 70 ? `${invalid.slice(0, 70)}…` : invalid);
    throw new SelectorError(`${path}.values`, `must be valid label values, not ${shown}`);
  }
  if (!operators.includes(operator)) {
    throw new SelectorError(
      `${path}.operator`,
      `must be one of ${operators.join(', ')}, not ${JSON.stringify(operator)}`,
    );
  }
  switch (operator) {
    case 'In':
    case 'NotIn': {
      if (values.length === 0) throw new SelectorError(`${path}.values`, `must not be empty for ${operator}`);
      const wanted = new Set(values);
      if (operator === 'In') {
        return (labels) => {
          const value = valueOf(labels, key);
          return value !== undefined && wanted.has(value);
        };
      }
      return (labels) => {
        const value = valueOf(labels, key);
        return value === undefined || !wanted.has(value);
      };
    }
    case 'Exists':
    case 'DoesNotExist': {
      if (values.length > 0) throw new SelectorError(`${path}.values`, `must be empty for ${operator}`);
      const wanted = operator === 'Exists';
      return (labels) => (valueOf(labels, key) !== undefined) === wanted;
    }
    default: {
      const bound = values.length === 1 ? parseInteger(values[0]!) : undefined;
      if (bound === undefined) throw new SelectorError(`${path}.values`, `must be one whole number for ${operator}`);
      const greater = operator === 'Gt';
      return (labels) => {
        const value = parseInteger(valueOf(labels, key) ?? '');
        return value !== undefined && (greater ? value > bound : value < bound);
      };
    }
  }
}

function compileField(requirement: NodeSelectorRequirement, path: string): NodePredicate {
  const { key, operator, values } = requirement;
  if (key !== 'metadata.name') {
    throw new SelectorError(`${path}.key`, `must be metadata.name, not ${JSON.stringify(key)}`);
  }
  if (operator !== 'In' && operator !== 'NotIn') {
    throw new SelectorError(`${path}.operator`, `must be In or NotIn, not ${JSON.stringify(operator)}`);
  }
  if (values?.length !== 1) throw new SelectorError(`${path}.values`, 'must contain exactly one node name');
  const [name] = values;
  return operator === 'In' ? (node) => node.name === name : (node) => node.name !== name;
}

/** Parses a 64-bit decimal integer as Kubernetes does. Returns undefined for any other text. */
function parseInteger(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function checkKey(key: unknown, path: string): void {
  if (typeof key !== 'string' || !isQualifiedName(key)) {
    throw new SelectorError(
      path,
      `must be a label key such as "app" or "example.com/tier", not ${JSON.stringify(key)}`,
    );
  }
}
