import { SelectorError } from '../../api/label-selector.ts';
import type { Labels } from '../../api/label-selector.ts';
import type { Pod, PodAffinityRules } from '../../api/pod.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { EventRegistration } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { skip, Status } from '../../framework/status.ts';
import { KeptByText } from '../kept-by-text.ts';
import { maxNodeScore } from '../node-score.ts';
import { AffinityState, concernOf } from './affinity-state.ts';
import type { AffinityContext, AffinityVerdict } from './affinity-state.ts';
import { compileAffinityRules, noRules, reaches } from './affinity-rules.ts';
import type { AffinityRules } from './affinity-rules.ts';
import { affinityEvents } from './affinity-events.ts';
import { interPodAffinityArguments } from './inter-pod-affinity-args.ts';

const name = 'InterPodAffinity';
const rejections: Readonly<Record<AffinityVerdict, Status | undefined>> = {
  fits: undefined,
  affinity: new Status('UnschedulableAndUnresolvable', "node(s) didn't match pod affinity rules", name),
  antiAffinity: new Status('Unschedulable', "node(s) didn't match pod anti-affinity rules", name),
  existingAntiAffinity: new Status('Unschedulable', "node(s) didn't satisfy existing pods anti-affinity rules", name),
};

/** Sorts of pods of which it is remembered whether anybody's rules are about them; beyond them all are looked at anew. */
const mostConcerned = 4_096;

/** Of those that ask differently; each may have a number for every node. */
const mostPreFilterStates = 64;
const stateKey = `${name}/question`;

/** What is signed of labels, in a namespace. */
interface Signed {
  readonly namespace: string;
  readonly rules: AffinityRules;
  readonly text: string;
}

/**
 * Puts pods beside those that they want to be with and apart from those that they do not, and keeps them from pods that do not
 * want them; prefers nodes by what they and the pods that are there prefer.
 */
class InterPodAffinity implements Plugin {
  readonly name = name;
  readonly readsOtherNodes = true;
  readonly reads = ['Namespace'] as const;
  readonly #cluster: ClusterLister;
  readonly #ignoresPreferencesOfOthers: boolean;
  readonly #context: AffinityContext;
  readonly #preFilterStates = new KeptByText<AffinityState>(mostPreFilterStates);
  /** rules -> compiled, or what is wrong with them */
  readonly #compiled = new WeakMap<PodAffinityRules, AffinityRules | SelectorError>();
  /** labels -> what was signed last for a pod with them; of what was known as of these revisions */
  #signed = new WeakMap<Labels, Signed>();
  #knownRevision = -1;
  #namespacesRevision = -1;
  /** Labels that anybody's rules read, in order. */
  #labelKeys: readonly string[] = [];
  /** namespace and labels that are read -> whether anybody's rules are about such pods */
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
   * What the pod says of others, and of its labels what anybody says something about: labels that no rule reads tell nobody apart.
   * Empty where the pod and everybody else are nothing to each other.
   */
  sign(pod: Pod): string {
    if (pod.template.podAffinity === undefined && this.#cluster.affinityTerms.isEmpty) return '';
    this.#lookAtKnown();
    const rules = this.#rulesOf(pod);
    const known = this.#signed.get(pod.labels);
    if (known?.namespace === pod.namespace && known.rules === rules) return known.text;
    const text = this.#textOf(pod, rules);
    this.#signed.set(pod.labels, { namespace: pod.namespace, rules, text });
    return text;
  }

  preFilter(state: CycleState, pod: Pod): Status | undefined {
    const { podAffinity } = pod.template;
    if (podAffinity === undefined && this.#cluster.affinityTerms.isEmpty) return Status.skipThroughout;
    const rules = podAffinity === undefined ? noRules : this.#compile(podAffinity);
    if (rules instanceof SelectorError) return notUnderstood(rules);
    const asksNothing = rules.affinity.length === 0 && rules.antiAffinity.length === 0;
    const text = this.sign(pod);
    if (asksNothing && text === '') return Status.skipThroughout;
    const preFilterState = this.#preFilterState(pod, rules, text);
    if (asksNothing && !preFilterState.isBarred) return preFilterState.mayBeBarred ? skip : Status.skipThroughout;
    state.write(stateKey, preFilterState);
    return undefined;
  }

  /** What is counted follows the picture, where the pod is already. */
  preFilterAddPod(state: CycleState): Status | undefined {
    preFilterStateOf(state).bringUpToDate();
    return undefined;
  }

  preFilterRemovePod(state: CycleState): Status | undefined {
    preFilterStateOf(state).bringUpToDate();
    return undefined;
  }

  filter(state: CycleState, _pod: Pod, node: NodeView): Status | undefined {
    return rejections[preFilterStateOf(state).verdict(node.index)];
  }

  filterAll(state: CycleState, _pod: Pod, indexes: Int32Array, size: number): number {
    return preFilterStateOf(state).keepFitting(indexes, size);
  }

  /** The domains of each topology in which some of them want to be beside others of them. */
  domainsFor(members: readonly Pod[]): readonly (readonly number[])[] | undefined {
    const { labelsOf } = this.#context;
    const keys = new Set<string>();
    for (const pod of oneOfEachSort(members)) {
      for (const term of this.#rulesOf(pod).affinity) {
        const isAbout = ({ namespace, labels }: Pod): boolean =>
          reaches(term, pod.namespace, namespace, labelsOf) && term.matches(labels);
        if (!keys.has(term.topologyKey) && members.some(isAbout)) keys.add(term.topologyKey);
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
    // Others of the same plan may yet land that prefer something; then all nodes are no longer alike.
    if (prefersNothing && !preFilterState.mayBeScored) return skip;
    state.write(stateKey, preFilterState);
    return undefined;
  }

  /** To a profile without its PreScore all nodes are alike. */
  score(state: CycleState, _pod: Pod, { index }: NodeView): number {
    return state.read<AffinityState>(stateKey)?.score(index) ?? 0;
  }

  scoreAll(state: CycleState, _pod: Pod, indexes: Int32Array, size: number, scores: Float64Array): void {
    const preFilterState = state.read<AffinityState>(stateKey);
    for (let i = 0; i < size; i++) scores[indexes[i]!] = preFilterState?.score(indexes[i]!) ?? 0;
  }

  /** kube-scheduler's: the least becomes 0 and the greatest 100, in whole numbers; 0 where all are equal. */
  normalizeScore(_state: CycleState, _pod: Pod, scores: Float64Array): void {
    let least = Infinity;
    let greatest = -Infinity;
    for (let i = 0; i < scores.length; i++) {
      least = Math.min(least, scores[i]!);
      greatest = Math.max(greatest, scores[i]!);
    }
    const range = greatest - least;
    if (!(range > 0)) {
      scores.fill(0);
      return;
    }
    for (let i = 0; i < scores.length; i++) scores[i] = Math.trunc(maxNodeScore * ((scores[i]! - least) / range));
  }

  eventsToRegister(): readonly EventRegistration[] {
    return affinityEvents({
      rulesOf: (pod) => this.#rulesOf(pod),
      labelsOf: this.#context.labelsOf,
      mayBeBarred: (pod) => concernOf(pod, this.#context).barred,
    });
  }

  #preFilterState(pod: Pod, rules: AffinityRules, text: string): AffinityState {
    const preFilterState = this.#preFilterStates.of(text, () => {
      const labels = this.#signedLabels(pod, rules);
      return new AffinityState({ namespace: pod.namespace, labels, rules }, this.#context);
    });
    preFilterState.bringUpToDate();
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

  /** What is signed depends on what anybody says of others. */
  #lookAtKnown(): void {
    const { affinityTerms, listed } = this.#cluster;
    const namespaces = listed.revision('Namespace');
    if (this.#knownRevision === affinityTerms.revision && this.#namespacesRevision === namespaces) return;
    this.#knownRevision = affinityTerms.revision;
    this.#namespacesRevision = namespaces;
    this.#signed = new WeakMap();
    this.#concerned.clear();
    const keys = new Set<string>();
    affinityTerms.each((affinity) => {
      for (const key of this.#context.rulesOf({ affinity }).labelKeys) keys.add(key);
    });
    this.#labelKeys = [...keys].sort();
  }

  /** Those in the text: when others come to be read, the question is that of pods which have none of them. */
  #signedLabels({ labels }: Pod, rules: AffinityRules): Labels {
    const read = [...this.#labelKeys, ...rules.labelKeys].filter((key) => Object.hasOwn(labels, key));
    return Object.fromEntries(read.map((key) => [key, labels[key]!]));
  }

  #textOf({ namespace, labels }: Pod, rules: AffinityRules): string {
    let text = namespace;
    for (const key of this.#labelKeys) if (Object.hasOwn(labels, key)) text += `\u0001${key}=${labels[key]!}`;
    if (rules !== noRules) {
      // Its own are not among those that are known while nobody has shown it.
      for (const key of [...rules.labelKeys].sort()) {
        if (Object.hasOwn(labels, key)) text += `\u0001${key}=${labels[key]!}`;
      }
      return `${text}\u0002${rules.text}`;
    }
    let isConcerned = this.#concerned.get(text);
    if (isConcerned === undefined) {
      const { barred, scored } = concernOf({ namespace, labels }, this.#context);
      isConcerned = barred || scored;
      if (this.#concerned.size >= mostConcerned) this.#concerned.clear();
      this.#concerned.set(text, isConcerned);
    }
    return isConcerned ? text : '';
  }
}

/** Of pods that say the same of others. */
function oneOfEachSort(members: readonly Pod[]): Iterable<Pod> {
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

function notUnderstood({ message }: SelectorError): Status {
  return new Status('UnschedulableAndUnresolvable', `the pod's spec.affinity cannot be understood: ${message}`, name);
}

export const createInterPodAffinity: PluginFactory = (args, { cluster }) => new InterPodAffinity(args, cluster);
