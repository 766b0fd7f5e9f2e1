import { compileLabelSelectorAt } from '../../api/label-selector.ts';
import type { LabelPredicate, Labels, LabelSelector } from '../../api/label-selector.ts';
import type { PodAffinityRules, PodAffinityTerm, PodAffinityTerms } from '../../api/pod.ts';

/** Which pods a term is about: by their labels, and by their namespace. */
export interface AffinityTerm {
  readonly topologyKey: string;
  readonly matches: LabelPredicate;
  /** Namespaces by name; undefined: the one of the pod whose term it is. */
  readonly namespaces: ReadonlySet<string> | undefined;
  /** Namespaces by label, besides; undefined: none. */
  readonly namespaceMatches: LabelPredicate | undefined;
  /** It is about pods of all namespaces. */
  readonly isEverywhere: boolean;
}

/** A term that is worth something where it is met; less than nothing where the pods are not to be beside each other. */
export interface WeightedTerm {
  readonly term: AffinityTerm;
  readonly weight: number;
}

/** A pod's rules about other pods, ready to be asked about many. */
export interface AffinityRules {
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
  readonly preferred: readonly WeightedTerm[];
  /** Labels of pods that some term reads. */
  readonly labelKeys: ReadonlySet<string>;
  /** The same rules have the same text. */
  readonly text: string;
  /** Some term tells namespaces by their labels. */
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

/** Throws SelectorError for rules that cannot be understood; its path begins at the pod's spec.affinity. */
export function compileAffinityRules(rules: PodAffinityRules): AffinityRules {
  const labelKeys = new Set<string>();
  const preferences = compileTerms(rules.podAffinity, 'podAffinity', 1, labelKeys);
  const aversions = compileTerms(rules.podAntiAffinity, 'podAntiAffinity', -1, labelKeys);
  const preferred = [...preferences.preferred, ...aversions.preferred];
  const all = [...preferences.required, ...aversions.required, ...preferred.map(({ term }) => term)];
  return {
    affinity: preferences.required,
    antiAffinity: aversions.required,
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

/** Namespace -> its labels; undefined: there is none of that name, or it is not known. */
export type NamespaceLabels = (namespace: string) => Labels | undefined;

/**
 * Is a term of a pod in `owner`, which is to be placed, about pods in `namespace`? As in kube-scheduler a namespace that is not known
 * is in none of those that are told by labels.
 */
export function reaches(term: AffinityTerm, owner: string, namespace: string, labelsOf: NamespaceLabels): boolean {
  if (isNamed(term, owner, namespace) || term.isEverywhere) return true;
  if (term.namespaceMatches === undefined) return false;
  const labels = labelsOf(namespace);
  return labels !== undefined && term.namespaceMatches(labels);
}

/** Is a term of a pod in `owner`, which is on a node, about a pod that is to be placed in `namespace`? One that is not known has no labels. */
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
