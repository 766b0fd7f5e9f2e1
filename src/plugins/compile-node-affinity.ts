import { compileNodeSelectorTerm, SelectorError } from '../api/label-selector.ts';
import type { NodePredicate } from '../api/label-selector.ts';
import type { NodeAffinityRules, NodeSelectorTerm } from '../api/pod.ts';

export interface PreferredTerm {
  readonly weight: number;
  readonly matches: NodePredicate;
}

/** Node affinity rules, ready to be asked about many nodes. */
export interface CompiledNodeAffinity {
  /** One of them must match; undefined when nothing is required, empty when nothing can match. */
  readonly required: readonly NodePredicate[] | undefined;
  /** The only nodes that `required` can match, when every term names nodes by field. */
  readonly nodeNames: ReadonlySet<string> | undefined;
  readonly preferred: readonly PreferredTerm[];
}

/**
 * Throws SelectorError for rules that cannot be understood; its path begins with `path`. With `onMalformed` it is told of terms
 * that cannot be understood instead, and they match no node.
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
      lenient(() => compilePreferred(entry, `${preferredPath}[${index}]`), worthless, onMalformed.preferred),
    ),
  };
}

const matchesNothing: NodePredicate = () => false;
const worthless: PreferredTerm = { weight: 0, matches: matchesNothing };

function lenient<T>(compile: () => T, instead: T, onMalformed: ((error: SelectorError) => void) | undefined): T {
  try {
    return compile();
  } catch (error) {
    if (onMalformed === undefined || !(error instanceof SelectorError)) throw error;
    onMalformed(error);
    return instead;
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
    // Its message begins with its own path, relative to the term.
    throw new SelectorError(`${path}.${error.path}`, error.message.slice(error.path.length + 1));
  }
}

/**
 * Union of the names that each term allows; undefined when some term does not name nodes. Also of terms that cannot be understood
 * otherwise, as in kube-scheduler.
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
