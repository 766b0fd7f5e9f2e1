import type { LabelSelector } from '../../../api/label-selector.ts';
import type { NodeSelectorRequirement, NodeSelectorTerm } from '../../../api/node-selector.ts';
import type { NodeAffinityRules, PodAffinityRules, PodAffinityTerm, PodAffinityTerms } from '../../../api/pod.ts';
import type { Rename } from './renaming.ts';

type Labels = Readonly<Record<string, string>>;

/** Keys whose values are compared as numbers. Their numbers are replaced by numbers in the same order. */
export class NumericKeys {
  /** key -> its numbers */
  readonly #numbers = new Map<string, Set<bigint>>();
  /** key -> number -> its rank */
  readonly #ranks = new Map<string, ReadonlyMap<bigint, number>>();

  /** The key is compared as a number. */
  add(key: string): void {
    if (!this.#numbers.has(key)) this.#numbers.set(key, new Set());
  }

  see(key: string, value: string): void {
    const number = numberIn(value);
    if (number !== undefined) this.#numbers.get(key)?.add(number);
  }

  /** Returns undefined if the key is not compared as a number, or the value is none. */
  replacement(key: string, value: string): string | undefined {
    const numbers = this.#numbers.get(key);
    const number = numberIn(value);
    if (numbers === undefined || number === undefined) return undefined;
    let ranks = this.#ranks.get(key);
    if (ranks === undefined) {
      const sorted = [...numbers].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      this.#ranks.set(key, (ranks = new Map(sorted.map((each, rank) => [each, rank + 1]))));
    }
    // Other spellings of a number, such as 007, are other values for the operator In.
    const rank = ranks.get(number);
    return rank === undefined ? undefined : `${'0'.repeat(leadingZeros(value))}${rank}`;
  }
}

function numberIn(value: string): bigint | undefined {
  return /^[+-]?\d+$/.test(value) ? BigInt(value.replace('+', '')) : undefined;
}

function leadingZeros(value: string): number {
  return Math.max(0, /^[+-]?(0*)/.exec(value)![1]!.length - (/^[+-]?0+$/.test(value) ? 1 : 0));
}

/** Renames what labels, selectors and affinity name. */
export class LabelRenaming {
  readonly #rename: Rename;
  readonly #value: (key: string, value: string) => string | undefined;

  /** `numeric`: called for each value of a key; returns undefined if it is to be renamed like other values. */
  constructor(rename: Rename, numeric: (key: string, value: string) => string | undefined) {
    this.#rename = rename;
    this.#value = numeric;
  }

  key(key: string): string {
    return this.#rename('key', key);
  }

  value(key: string, value: string): string {
    return this.#value(key, value) ?? this.#rename('value', value);
  }

  labels(labels: Labels): Labels {
    return Object.fromEntries(Object.entries(labels).map(([key, value]) => [this.key(key), this.value(key, value)]));
  }

  selector(selector: LabelSelector): LabelSelector {
    const { matchLabels, matchExpressions } = selector;
    return {
      ...(matchLabels !== undefined && { matchLabels: this.labels(matchLabels) }),
      ...(matchExpressions !== undefined && {
        matchExpressions: matchExpressions.map(({ key, operator, values }) => ({
          key: this.key(key),
          operator,
          ...(values !== undefined && { values: values.map((value) => this.value(key, value)) }),
        })),
      }),
    };
  }

  nodeTerm({ matchExpressions, matchFields }: NodeSelectorTerm): NodeSelectorTerm {
    return {
      ...(matchExpressions !== undefined && {
        matchExpressions: matchExpressions?.map((each) => this.#requirement(each)),
      }),
      ...(matchFields !== undefined && { matchFields: matchFields?.map((each) => this.#field(each)) }),
    };
  }

  nodeAffinity(rules: NodeAffinityRules): NodeAffinityRules {
    const {
      requiredDuringSchedulingIgnoredDuringExecution: required,
      preferredDuringSchedulingIgnoredDuringExecution: preferred,
    } = rules;
    const terms = required?.nodeSelectorTerms;
    return {
      ...(required !== undefined && {
        requiredDuringSchedulingIgnoredDuringExecution: {
          ...(terms !== undefined && { nodeSelectorTerms: terms.map((term) => this.nodeTerm(term)) }),
        },
      }),
      ...(preferred !== undefined && {
        preferredDuringSchedulingIgnoredDuringExecution: preferred.map(({ weight, preference }) => ({
          weight,
          preference: this.nodeTerm(preference),
        })),
      }),
    };
  }

  podAffinity({ podAffinity, podAntiAffinity }: PodAffinityRules): PodAffinityRules {
    return {
      ...(podAffinity && { podAffinity: this.#affinityTerms(podAffinity) }),
      ...(podAntiAffinity && { podAntiAffinity: this.#affinityTerms(podAntiAffinity) }),
    };
  }

  #affinityTerms(terms: PodAffinityTerms): PodAffinityTerms {
    const {
      requiredDuringSchedulingIgnoredDuringExecution: required,
      preferredDuringSchedulingIgnoredDuringExecution: preferred,
    } = terms;
    return {
      ...(required && { requiredDuringSchedulingIgnoredDuringExecution: required.map((term) => this.#podTerm(term)) }),
      ...(preferred && {
        preferredDuringSchedulingIgnoredDuringExecution: preferred.map(({ weight, podAffinityTerm }) => ({
          weight,
          podAffinityTerm: this.#podTerm(podAffinityTerm),
        })),
      }),
    };
  }

  #podTerm({ labelSelector, namespaces, namespaceSelector, topologyKey, ...rest }: PodAffinityTerm): PodAffinityTerm {
    const { matchLabelKeys, mismatchLabelKeys } = rest as Readonly<Record<string, readonly string[] | undefined>>;
    return {
      topologyKey: this.key(topologyKey),
      ...(labelSelector !== undefined && { labelSelector: labelSelector && this.selector(labelSelector) }),
      ...(namespaces && { namespaces: namespaces.map((name) => this.#rename('namespace', name)) }),
      ...(namespaceSelector !== undefined && {
        namespaceSelector: namespaceSelector && this.selector(namespaceSelector),
      }),
      ...(matchLabelKeys && { matchLabelKeys: matchLabelKeys.map((key) => this.key(key)) }),
      ...(mismatchLabelKeys && { mismatchLabelKeys: mismatchLabelKeys.map((key) => this.key(key)) }),
    };
  }

  #requirement({ key, operator, values }: NodeSelectorRequirement): NodeSelectorRequirement {
    return {
      key: this.key(key),
      operator,
      ...(values !== undefined && { values: values.map((value) => this.value(key, value)) }),
    };
  }

  /** The only field is metadata.name. */
  #field({ key, operator, values }: NodeSelectorRequirement): NodeSelectorRequirement {
    return {
      key: key === 'metadata.name' ? key : this.#rename('other', key),
      operator,
      ...(values !== undefined && { values: values.map((name) => this.#rename('node', name)) }),
    };
  }
}
