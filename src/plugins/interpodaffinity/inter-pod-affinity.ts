import { SelectorError } from '../../api/label-selector.ts';
import type { Labels } from '../../api/label-selector.ts';
import type { Pod, PodAffinityRules } from '../../api/pod.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { EventRegistration } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { skip, Status } from '../../framework/status.ts';
import { LruCache } from '../lru-cache.ts';
import { maxNodeScore } from '../node-score.ts';
import { AffinityState, matchExistingTerms } from './affinity-state.ts';
import type { AffinityContext, AffinityVerdict } from './affinity-state.ts';
import { compileAffinityRules, noRules, reaches } from './affinity-rules.ts';
import type { AffinityRules } from './affinity-rules.ts';
import { affinityEvents } from './affinity-events.ts';
import { interPodAffinityArguments } from './inter-pod-affinity-args.ts';

const name = 'InterPodAffinity';
const rejections: Readonly<Record<AffinityVerdict, Status | undefined>> = {
  fits: undefined,
  affinity: new Status(
    'UnschedulableAndUnresolvable',
    { text: "node(s) didn't match pod affinity rules", code: 'PodAffinityMismatch' },
    name,
  ),
  antiAffinity: new Status(
    'Unschedulable',
    { text: "node(s) didn't match pod anti-affinity rules", code: 'PodAntiAffinityConflict' },
    name,
  ),
  existingAntiAffinity: new Status(
    'Unschedulable',
    { text: "node(s) didn't satisfy existing pods anti-affinity rules", code: 'PodAntiAffinityConflict' },
    name,
  ),
};

/** Maximum number of cached matches between existing terms and incoming pods; beyond it the cache starts over. */
const maxConcerned = 4_096;

/** Maximum number of cached states, one per signature. Each may hold a number for every node. */
const maxPreFilterStates = 64;
const stateKey = `${name}/state`;

/** Cached signature for a set of labels. */
interface Signed {
  readonly namespace: string;
  readonly rules: AffinityRules;
  readonly text: string;
}

/**
 * kube-scheduler's InterPodAffinity: required affinity and anti-affinity of the pod, and required anti-affinity of existing pods. Scores
 * nodes by the preferred terms of both.
 */
class InterPodAffinity implements Plugin {
  readonly name = name;
  readonly readsOtherNodes = true;
  readonly reads = ['Namespace'] as const;
  readonly #cluster: ClusterLister;
  readonly #ignoresPreferencesOfOthers: boolean;
  readonly #context: AffinityContext;
  readonly #preFilterStates = new LruCache<AffinityState>(maxPreFilterStates);
  /** rules -> compiled rules, or the error that makes them invalid */
  readonly #compiled = new WeakMap<PodAffinityRules, AffinityRules | SelectorError>();
  /** labels -> latest signature of a pod with them, for the revisions below */
  #signed = new WeakMap<Labels, Signed>();
  #termsRevision = -1;
  #namespacesRevision = -1;
  /** Sorted pod labels that any pod's terms read. */
  #labelKeys: readonly string[] = [];
  /** namespace and read labels as text -> whether any pod's terms match such pods */
  readonly #concerned = new Map<string, boolean>();

  constructor(args: unknown, cluster: ClusterLister) {
    const { hardPodAffinityWeight, ignorePreferredTermsOfExistingPods } = interPodAffinityArguments.read(args);
    this.#cluster = cluster;
    this.#ignoresPreferencesOfOthers = ignorePreferredTermsOfExistingPods;
    this.#context = {
      cluster,
      hardPodAffinityWeight,
      rulesOf: ({ affinity }) => {
        const rules = affinity === undefined ? noRules : this.#compile(affinity);
        return rules instanceof SelectorError ? noRules : rules;
      },
      labelsOf: (namespace) => cluster.listed.get('Namespace', '', namespace)?.labels,
    };
  }

  /**
   * Signs the pod's own rules and those labels that any pod's terms read. Empty if the pod has no rules and no terms match it.
   */
  sign(pod: Pod): string {
    if (pod.template.podAffinity === undefined && this.#cluster.affinityTerms.isEmpty) return '';
    this.#refreshTerms();
    const rules = this.#rulesOf(pod);
    const cached = this.#signed.get(pod.labels);
    if (cached?.namespace === pod.namespace && cached.rules === rules) return cached.text;
    const text = this.#textOf(pod, rules);
    this.#signed.set(pod.labels, { namespace: pod.namespace, rules, text });
    return text;
  }

  preFilter(state: CycleState, pod: Pod): Status | undefined {
    const { podAffinity } = pod.template;
    if (podAffinity === undefined && this.#cluster.affinityTerms.isEmpty) return Status.skipThroughout;
    const rules = podAffinity === undefined ? noRules : this.#compile(podAffinity);
    if (rules instanceof SelectorError) return invalidRules(rules);
    const requiresNothing = rules.affinity.length === 0 && rules.antiAffinity.length === 0;
    const text = this.sign(pod);
    if (requiresNothing && text === '') return Status.skipThroughout;
    const preFilterState = this.#preFilterState(pod, rules, text);
    if (requiresNothing && !preFilterState.hasExistingAntiAffinity)
      return preFilterState.mayHaveExistingAntiAffinity ? skip : Status.skipThroughout;
    state.write(stateKey, preFilterState);
    return undefined;
  }

  /** Reads the counts from the cluster cache, which already includes the added pod. */
  preFilterAddPod(state: CycleState): Status | undefined {
    preFilterStateOf(state).refresh();
    return undefined;
  }

  preFilterRemovePod(state: CycleState): Status | undefined {
    preFilterStateOf(state).refresh();
    return undefined;
  }

  filter(state: CycleState, _pod: Pod, node: NodeView): Status | undefined {
    return rejections[preFilterStateOf(state).verdict(node.index)];
  }

  filterAll(state: CycleState, _pod: Pod, indexes: Int32Array, size: number): number {
    return preFilterStateOf(state).keepFitting(indexes, size);
  }

  dependsOnPod(state: CycleState, _pod: Pod, other: Pod): boolean {
    return preFilterStateOf(state).isFilteredBy(other);
  }

  /** Returns the domains of each topology in which the members' required affinity keeps them together. */
  domainsFor(members: readonly Pod[]): readonly (readonly number[])[] | undefined {
    const { labelsOf } = this.#context;
    const keys = new Set<string>();
    for (const pod of onePerRules(members)) {
      for (const term of this.#rulesOf(pod).affinity) {
        const matches = ({ namespace, labels }: Pod): boolean =>
          reaches(term, pod.namespace, namespace, labelsOf) && term.matches(labels);
        if (!keys.has(term.topologyKey) && members.some(matches)) keys.add(term.topologyKey);
      }
    }
    if (keys.size === 0) return undefined;
    return [...keys].flatMap((key) => {
      const { domains, size } = this.#cluster.topology(key);
      const nodes: number[][] = Array.from({ length: size }, () => []);
      for (let index = 0; index < domains.length; index++) nodes[domains[index]!]?.push(index);
      return nodes;
    });
  }

  preScore(state: CycleState, pod: Pod): Status | undefined {
    const { podAffinity } = pod.template;
    if (podAffinity === undefined && this.#cluster.affinityTerms.isEmpty) return skip;
    const rules = this.#rulesOf(pod);
    const prefersNothing = rules.preferred.length === 0;
    if (prefersNothing && this.#ignoresPreferencesOfOthers) return skip;
    const text = this.sign(pod);
    if (prefersNothing && text === '') return skip;
    const preFilterState = this.#preFilterState(pod, rules, text);
    // Members of the same plan with preferences may be placed later; then nodes get different scores.
    if (prefersNothing && !preFilterState.mayBeScored) return skip;
    state.write(stateKey, preFilterState);
    return undefined;
  }

  /** Without the plugin's PreScore in the profile, all nodes score 0. */
  score(state: CycleState, _pod: Pod, { index }: NodeView): number {
    return state.read<AffinityState>(stateKey)?.score(index) ?? 0;
  }

  scoreAll(state: CycleState, _pod: Pod, indexes: Int32Array, size: number, scores: Float64Array): void {
    const preFilterState = state.read<AffinityState>(stateKey);
    for (let i = 0; i < size; i++) scores[indexes[i]!] = preFilterState?.score(indexes[i]!) ?? 0;
  }

  /** As in kube-scheduler: scales the scores so that the lowest becomes 0 and the highest 100, in whole numbers; 0 if all are equal. */
  normalizeScore(_state: CycleState, _pod: Pod, scores: Float64Array): void {
    let min = Infinity;
    let max = -Infinity;
    for (let i = 0; i < scores.length; i++) {
      min = Math.min(min, scores[i]!);
      max = Math.max(max, scores[i]!);
    }
    const range = max - min;
    if (!(range > 0)) {
      scores.fill(0);
      return;
    }
    for (let i = 0; i < scores.length; i++) scores[i] = Math.trunc(maxNodeScore * ((scores[i]! - min) / range));
  }

  eventsToRegister(): readonly EventRegistration[] {
    return affinityEvents({
      rulesOf: (pod) => this.#rulesOf(pod),
      labelsOf: this.#context.labelsOf,
      mayHaveExistingAntiAffinity: (pod) => matchExistingTerms(pod, this.#context).antiAffinity,
    });
  }

  #preFilterState(pod: Pod, rules: AffinityRules, text: string): AffinityState {
    const preFilterState = this.#preFilterStates.of(text, () => {
      const labels = this.#signedLabels(pod, rules);
      return new AffinityState({ namespace: pod.namespace, labels, rules }, this.#context);
    });
    preFilterState.refresh();
    return preFilterState;
  }

  #rulesOf({ template }: Pod): AffinityRules {
    return this.#context.rulesOf({ affinity: template.podAffinity });
  }

  #compile(rules: PodAffinityRules): AffinityRules | SelectorError {
    let compiled = this.#compiled.get(rules);
    if (compiled === undefined) {
      compiled = compileOrExplain(rules);
      this.#compiled.set(rules, compiled);
    }
    return compiled;
  }

  /** Drops cached signatures after terms or namespaces have changed. */
  #refreshTerms(): void {
    const { affinityTerms, listed } = this.#cluster;
    const namespaces = listed.revision('Namespace');
    if (this.#termsRevision === affinityTerms.revision && this.#namespacesRevision === namespaces) return;
    this.#termsRevision = affinityTerms.revision;
    this.#namespacesRevision = namespaces;
    this.#signed = new WeakMap();
    this.#concerned.clear();
    const keys = new Set<string>();
    affinityTerms.each((affinity) => {
      for (const key of this.#context.rulesOf({ affinity }).labelKeys) keys.add(key);
    });
    this.#labelKeys = [...keys].sort();
  }

  /** Returns the labels in the signature. A label that terms start to read later changes the signature. */
  #signedLabels({ labels }: Pod, rules: AffinityRules): Labels {
    const read = [...this.#labelKeys, ...rules.labelKeys].filter((key) => Object.hasOwn(labels, key));
    return Object.fromEntries(read.map((key) => [key, labels[key]!]));
  }

  #textOf({ namespace, labels }: Pod, rules: AffinityRules): string {
    let text = namespace;
    for (const key of this.#labelKeys) if (Object.hasOwn(labels, key)) text += `\u0001${key}=${labels[key]!}`;
    if (rules !== noRules) {
      // The term index may not include the pod's own rules yet.
      for (const key of [...rules.labelKeys].sort()) {
        if (Object.hasOwn(labels, key)) text += `\u0001${key}=${labels[key]!}`;
      }
      return `${text}\u0002${rules.text}`;
    }
    let isConcerned = this.#concerned.get(text);
    if (isConcerned === undefined) {
      const { antiAffinity, scored } = matchExistingTerms({ namespace, labels }, this.#context);
      isConcerned = antiAffinity || scored;
      if (this.#concerned.size >= maxConcerned) this.#concerned.clear();
      this.#concerned.set(text, isConcerned);
    }
    return isConcerned ? text : '';
  }
}

/** Returns one pod per set of affinity rules. */
function onePerRules(members: readonly Pod[]): Iterable<Pod> {
  return new Map(members.map((pod) => [pod.template.podAffinity, pod])).values();
}

function preFilterStateOf(state: CycleState): AffinityState {
  return state.read<AffinityState>(stateKey)!;
}

function compileOrExplain(rules: PodAffinityRules): AffinityRules | SelectorError {
  try {
    return compileAffinityRules(rules);
  } catch (error) {
    if (error instanceof SelectorError) return error;
    throw error;
  }
}

function invalidRules({ message }: SelectorError): Status {
  return new Status('UnschedulableAndUnresolvable', `invalid spec.affinity: ${message}`, name);
}

export const createInterPodAffinity: PluginFactory = (args, { cluster }) => new InterPodAffinity(args, cluster);
