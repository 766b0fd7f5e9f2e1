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

/** Throws SelectorError for rules that cannot be understood; its path begins with `path`. */
export function compileNodeAffinity(rules: NodeAffinityRules, path: string): CompiledNodeAffinity {
  const requiredPath = `${path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
  const preferredPath = `${path}.preferredDuringSchedulingIgnoredDuringExecution`;
  const required = rules.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required ? listOf(required.nodeSelectorTerms, requiredPath) : undefined;
  const preferred = listOf(rules.preferredDuringSchedulingIgnoredDuringExecution, preferredPath);
  return {
    required: terms?.map((term, index) => compileTerm(term, `${requiredPath}[${index}]`)),
    nodeNames: terms && namedNodes(terms),
    preferred: preferred.map((entry, index) => {
      const { weight, preference } = objectOf(entry, `${preferredPath}[${index}]`);
      if (!Number.isInteger(weight) || weight < 1 || weight > 100) {
        throw new SelectorError(`${preferredPath}[${index}].weight`, 'must be a whole number from 1 to 100');
      }
      return { weight, matches: compileTerm(preference, `${preferredPath}[${index}].preference`) };
    }),
  };
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

/** For terms that compile: union of the names that each allows; undefined when some term does not name nodes. */
function namedNodes(terms: readonly NodeSelectorTerm[]): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  for (const term of terms) {
    const named = (term.matchFields ?? []).filter((field) => field.key === 'metadata.name' && field.operator === 'In');
    if (named.length === 0) return undefined;
    const [first] = named[0]!.values!;
    if (named.every((field) => field.values![0] === first)) names.add(first!);
  }
  return terms.length === 0 ? undefined : names;
}
