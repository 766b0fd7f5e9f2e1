import { compileNodeSelectorTerm, SelectorError } from '../api/label-selector.ts';
import type { NodePredicate } from '../api/label-selector.ts';
import type { NodeAffinityRules, NodeSelectorTerm } from '../api/pod.ts';

export interface PreferredTerm {
  readonly weight: number;
  readonly matches: NodePredicate;
}

/** Node affinity rules, compiled for matching many nodes. */
export interface CompiledNodeAffinity {
  /** A node must match at least one; undefined: no requirement; empty: no node matches. */
  readonly required: readonly NodePredicate[] | undefined;
  /** The only nodes that can match `required`, if every term selects nodes by name. */
  readonly nodeNames: ReadonlySet<string> | undefined;
  readonly preferred: readonly PreferredTerm[];
}

/**
 * Compiles node affinity rules. Throws SelectorError for an invalid rule; its path begins with `path`. With `onMalformed`, reports
 * invalid terms there instead and lets them match no node.
 */
export function compileNodeAffinity(
  rules: NodeAffinityRules,
  path: string,
  onMalformed: Partial<Record<'required' | 'preferred', (error: SelectorError) => void>> = {},
): CompiledNodeAffinity {
  const requiredPath = `${path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
  const preferredPath = `${path}.preferredDuringSchedulingIgnoredDuringExecution`;
  const required = rules.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required ? listOf(required.nodeSelectorTerms, requiredPath) : undefined;
  const preferred = listOf(rules.preferredDuringSchedulingIgnoredDuringExecution, preferredPath);
  return {
    required: terms?.map((term, index) =>
      lenient(() => compileTerm(term, `${requiredPath}[${index}]`), matchesNothing, onMalformed.required),
    ),
    nodeNames: terms && namedNodes(terms),
    preferred: preferred.map((entry, index) =>
      lenient(() => compilePreferred(entry, `${preferredPath}[${index}]`), neverPreferred, onMalformed.preferred),
    ),
  };
}

const matchesNothing: NodePredicate = () => false;
const neverPreferred: PreferredTerm = { weight: 0, matches: matchesNothing };

function lenient<T>(compile: () => T, fallback: T, onMalformed: ((error: SelectorError) => void) | undefined): T {
  try {
    return compile();
  } catch (error) {
    if (onMalformed === undefined || !(error instanceof SelectorError)) throw error;
    onMalformed(error);
    return fallback;
  }
}

function compilePreferred(
  entry: NonNullable<NodeAffinityRules['preferredDuringSchedulingIgnoredDuringExecution']>[number],
  path: string,
): PreferredTerm {
  const { weight, preference } = objectOf(entry, path);
  if (!Number.isInteger(weight) || weight < 1 || weight > 100) {
    throw new SelectorError(`${path}.weight`, 'must be a whole number from 1 to 100');
  }
  return { weight, matches: compileTerm(preference, `${path}.preference`) };
}

export function anyMatches(terms: readonly NodePredicate[], node: Parameters<NodePredicate>[0]): boolean {
  for (let i = 0; i < terms.length; i++) if (terms[i]!(node)) return true;
  return false;
}

function listOf<T>(value: readonly T[] | null | undefined, path: string): readonly T[] {
  const list = value ?? [];
  const isList: boolean = Array.isArray(list);
  if (!isList) throw new SelectorError(path, 'must be a list');
  return list;
}

function objectOf<T>(value: T, path: string): T {
  if (typeof value !== 'object' || value === null) throw new SelectorError(path, 'must be an object');
  return value;
}

function compileTerm(term: NodeSelectorTerm, path: string): NodePredicate {
  objectOf(term, path);
  try {
    return compileNodeSelectorTerm(term);
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    // The message begins with its own path, relative to the term.
    throw new SelectorError(`${path}.${error.path}`, error.message.slice(error.path.length + 1));
  }
}

/**
 * Returns the union of the names that each term allows; undefined if a term does not select nodes by name. As in kube-scheduler,
 * includes terms that are otherwise invalid.
 */
function namedNodes(terms: readonly NodeSelectorTerm[]): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  for (const term of terms) {
    const fields: unknown = (term as NodeSelectorTerm | null)?.matchFields;
    const named = (Array.isArray(fields) ? (fields as NonNullable<NodeSelectorTerm['matchFields']>) : [])
      .filter((field) => field.key === 'metadata.name' && field.operator === 'In')
      .map(({ values }) => new Set(values));
    const [first, ...others] = named;
    if (first === undefined) return undefined;
    for (const name of first) if (others.every((allowed) => allowed.has(name))) names.add(name);
  }
  return terms.length === 0 ? undefined : names;
}
