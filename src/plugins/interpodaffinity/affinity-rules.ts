import { compileLabelSelectorAt } from '../../api/label-selector.ts';
import type { LabelPredicate, Labels, LabelSelector } from '../../api/label-selector.ts';
import type { PodAffinityRules, PodAffinityTerm, PodAffinityTerms } from '../../api/pod.ts';

/** A term of pod affinity or anti-affinity: which pods it matches, by labels and namespace. */
export interface AffinityTerm {
  readonly topologyKey: string;
  readonly matches: LabelPredicate;
  /** Namespaces by name; undefined: the namespace of the pod that has the term. */
  readonly namespaces: ReadonlySet<string> | undefined;
  /** Namespaces by label, in addition; undefined: none. */
  readonly namespaceMatches: LabelPredicate | undefined;
  /** True if the term matches pods in all namespaces. */
  readonly isEverywhere: boolean;
}

/** A preferred term. A negative weight means anti-affinity. */
export interface WeightedTerm {
  readonly term: AffinityTerm;
  readonly weight: number;
}

/** A pod's affinity rules, compiled for matching many pods. */
export interface AffinityRules {
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
  readonly preferred: readonly WeightedTerm[];
  /** Pod labels that the terms read. */
  readonly labelKeys: ReadonlySet<string>;
  /** Equal rules have equal texts. */
  readonly text: string;
  /** True if a term selects namespaces by label. */
  readonly readsNamespaces: boolean;
}

export const noRules: AffinityRules = {
  affinity: [],
  antiAffinity: [],
  preferred: [],
  labelKeys: new Set(),
  text: '',
  readsNamespaces: false,
};

/** Throws SelectorError for invalid rules; its path begins at the pod's spec.affinity. */
export function compileAffinityRules(rules: PodAffinityRules): AffinityRules {
  const labelKeys = new Set<string>();
  const affinity = compileTerms(rules.podAffinity, 'podAffinity', 1, labelKeys);
  const antiAffinity = compileTerms(rules.podAntiAffinity, 'podAntiAffinity', -1, labelKeys);
  const preferred = [...affinity.preferred, ...antiAffinity.preferred];
  const all = [...affinity.required, ...antiAffinity.required, ...preferred.map(({ term }) => term)];
  return {
    affinity: affinity.required,
    antiAffinity: antiAffinity.required,
    preferred,
    labelKeys,
    text: JSON.stringify(rules),
    readsNamespaces: all.some((term) => term.namespaceMatches !== undefined && !term.isEverywhere),
  };
}

function compileTerms(
  terms: PodAffinityTerms | null | undefined,
  path: string,
  sign: 1 | -1,
  labelKeys: Set<string>,
): { readonly required: readonly AffinityTerm[]; readonly preferred: readonly WeightedTerm[] } {
  const required = terms?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const preferred = terms?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return {
    required: required.map((term, i) =>
      compileTerm(term, `${path}.requiredDuringSchedulingIgnoredDuringExecution[${i}]`, labelKeys),
    ),
    preferred: preferred.map(({ weight, podAffinityTerm }, i) => ({
      term: compileTerm(
        podAffinityTerm,
        `${path}.preferredDuringSchedulingIgnoredDuringExecution[${i}].podAffinityTerm`,
        labelKeys,
      ),
      weight: sign * weight,
    })),
  };
}

function compileTerm(term: PodAffinityTerm, path: string, labelKeys: Set<string>): AffinityTerm {
  const { labelSelector, namespaceSelector, namespaces, topologyKey } = term;
  for (const key of keysOf(labelSelector)) labelKeys.add(key);
  const names = namespaces ?? [];
  const hasSelector = namespaceSelector !== undefined && namespaceSelector !== null;
  return {
    topologyKey,
    matches: compileLabelSelectorAt(labelSelector, `${path}.labelSelector`),
    namespaces: names.length === 0 && !hasSelector ? undefined : new Set(names),
    namespaceMatches: hasSelector ? compileLabelSelectorAt(namespaceSelector, `${path}.namespaceSelector`) : undefined,
    isEverywhere: hasSelector && keysOf(namespaceSelector).length === 0,
  };
}

function keysOf(selector: LabelSelector | null | undefined): readonly string[] {
  return [...Object.keys(selector?.matchLabels ?? {}), ...(selector?.matchExpressions ?? []).map(({ key }) => key)];
}

/** Namespace -> its labels; undefined: unknown namespace. */
export type NamespaceLabels = (namespace: string) => Labels | undefined;

/**
 * Returns whether a term of the incoming pod in namespace `owner` covers pods in `namespace`. As in kube-scheduler, a namespaceSelector
 * matches no unknown namespace.
 */
export function reaches(term: AffinityTerm, owner: string, namespace: string, labelsOf: NamespaceLabels): boolean {
  if (isNamed(term, owner, namespace) || term.isEverywhere) return true;
  if (term.namespaceMatches === undefined) return false;
  const labels = labelsOf(namespace);
  return labels !== undefined && term.namespaceMatches(labels);
}

/** Returns whether a term of an existing pod in namespace `owner` covers an incoming pod in `namespace`. An unknown namespace has no labels. */
export function reachesIncoming(
  term: AffinityTerm,
  owner: string,
  namespace: string,
  labelsOf: NamespaceLabels,
): boolean {
  return isNamed(term, owner, namespace) || term.namespaceMatches?.(labelsOf(namespace) ?? {}) === true;
}

function isNamed({ namespaces }: AffinityTerm, owner: string, namespace: string): boolean {
  return namespaces === undefined ? owner === namespace : namespaces.has(namespace);
}
