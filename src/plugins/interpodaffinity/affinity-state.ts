import type { Labels } from '../../api/label-selector.ts';
import type { Pod } from '../../api/pod.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { PodClass } from '../../cluster/placed-pods.ts';
import type { Topology } from '../../cluster/topologies.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import { reaches, reachesIncoming } from './affinity-rules.ts';
import type { AffinityRules, AffinityTerm, NamespaceLabels } from './affinity-rules.ts';

/** Access to the cluster and the plugin's settings. */
export interface AffinityContext {
  readonly cluster: Pick<ClusterLister, 'affinityTerms' | 'listed' | 'nodesRevision' | 'placed' | 'topology'>;
  /** Returns the compiled rules. Invalid rules of an existing pod are ignored. */
  readonly rulesOf: (podClass: Pick<PodClass, 'affinity'>) => AffinityRules;
  readonly labelsOf: NamespaceLabels;
  readonly hardPodAffinityWeight: number;
}

/** The properties of the incoming pod that its own terms and those of other pods depend on. */
export interface IncomingPod {
  readonly namespace: string;
  readonly labels: Labels;
  readonly rules: AffinityRules;
}

/** Counts per domain of one topology. */
interface Tally {
  readonly topology: Topology;
  /** domain number -> number of pods, or sum of weights */
  readonly counts: Int32Array;
  /** Number of counted pods and terms; if it is 0, all counts are 0. */
  entries: number;
}

/** What one scheduled pod of a class contributes to the counts. */
interface Effect {
  readonly matchesAffinity: boolean;
  /** Counts of the incoming pod's anti-affinity terms that match the class, one entry per term. */
  readonly antiAffinity: readonly Tally[];
  /** Counts of the class's anti-affinity terms that match the incoming pod, one entry per term. */
  readonly existingAntiAffinity: readonly Tally[];
  readonly scores: readonly { readonly tally: Tally; readonly weight: number }[];
}

const noEffect: Effect = { matchesAffinity: false, antiAffinity: [], existingAntiAffinity: [], scores: [] };

export type AffinityVerdict = 'fits' | 'affinity' | 'antiAffinity' | 'existingAntiAffinity';

/**
 * Counts scheduled pods per topology domain: those that match the terms of the incoming pod, and those whose terms match the incoming
 * pod. All incoming pods with the same signature share the counts. `refresh` applies the changes since the last call. It recounts
 * everything only if nodes or namespaces have changed.
 */
export class AffinityState {
  readonly #incoming: IncomingPod;
  readonly #context: AffinityContext;
  /** The pod matches its own required affinity terms. */
  #matchesItself = false;
  /** topology key -> tally */
  #affinity = new Map<string, Tally>();
  #antiAffinity = new Map<string, Tally>();
  #existingAntiAffinity = new Map<string, Tally>();
  #scores = new Map<string, Tally>();
  #effects = new WeakMap<PodClass, Effect>();
  /** labels -> whether the latest pod with them, of this namespace and with these rules, affects the verdict on its node */
  #filteredBy = new WeakMap<Labels, Pick<PodClass, 'namespace' | 'affinity'> & { readonly isFiltered: boolean }>();
  /** Counts of `#affinity` for each required term. */
  #affinityByTerm: readonly Tally[] = [];
  #antiAffinityList: readonly Tally[] = [];
  #existingAntiAffinityList: readonly Tally[] = [];
  #scoreList: readonly Tally[] = [];
  /** Revisions of the nodes and namespaces at the last full count. */
  #nodesRevision = -1;
  #namespacesRevision = -1;
  #version = -1;
  /** Revision of the affinity terms from which the two fields below were computed. */
  #termsRevision = -1;
  #mayHaveExistingAntiAffinity = false;
  #mayBeScored = false;

  constructor(incoming: IncomingPod, context: AffinityContext) {
    this.#incoming = incoming;
    this.#context = context;
  }

  /** Whether a scheduled pod has anti-affinity to the incoming pod. */
  get hasExistingAntiAffinity(): boolean {
    return this.#existingAntiAffinityList.some(({ entries }) => entries > 0);
  }

  /** Whether any pod, scheduled or not, has anti-affinity to the incoming pod. */
  get mayHaveExistingAntiAffinity(): boolean {
    this.#refreshTerms();
    return this.#mayHaveExistingAntiAffinity;
  }

  /** Whether any pod, scheduled or not, has a term that affects the score of the incoming pod. */
  get mayBeScored(): boolean {
    this.#refreshTerms();
    return this.#mayBeScored;
  }

  refresh(): void {
    const { cluster } = this.#context;
    const namespaces = cluster.listed.revision('Namespace');
    const isCurrent = this.#nodesRevision === cluster.nodesRevision && this.#namespacesRevision === namespaces;
    if (!isCurrent || !cluster.placed.changesSince(this.#version, this.#count)) {
      this.#nodesRevision = cluster.nodesRevision;
      this.#namespacesRevision = namespaces;
      this.#termsRevision = -1;
      this.#countAll();
    }
    this.#version = cluster.placed.version;
  }

  /** Returns whether assigning this pod to a node may change the verdict on that node. */
  isFilteredBy({ namespace, labels, template }: Pod): boolean {
    const affinity = template.podAffinity;
    let known = this.#filteredBy.get(labels);
    if (known?.namespace !== namespace || known.affinity !== affinity) {
      const { matchesAffinity, antiAffinity, existingAntiAffinity } = this.#findEffect({ namespace, labels, affinity });
      const isFiltered = matchesAffinity || antiAffinity.length + existingAntiAffinity.length > 0;
      known = { namespace, affinity, isFiltered };
      this.#filteredBy.set(labels, known);
    }
    return known.isFiltered;
  }

  /** Allocates nothing. */
  verdict(index: number): AffinityVerdict {
    if (!this.#satisfiesAffinity(index)) return 'affinity';
    if (isCounted(this.#antiAffinityList, index)) return 'antiAffinity';
    return isCounted(this.#existingAntiAffinityList, index) ? 'existingAntiAffinity' : 'fits';
  }

  /** Moves the indexes of the nodes that fit to the front and keeps their order. Returns their number. */
  keepFitting(indexes: Int32Array, size: number): number {
    let left = 0;
    for (let i = 0; i < size; i++) {
      const index = indexes[i]!;
      if (this.verdict(index) === 'fits') indexes[left++] = index;
    }
    return left;
  }

  /** Sums the weights of the preferred terms of the incoming pod and of existing pods. */
  score(index: number): number {
    let sum = 0;
    for (let i = 0; i < this.#scoreList.length; i++) {
      const { topology, counts } = this.#scoreList[i]!;
      const domain = topology.domains[index]!;
      if (domain >= 0) sum += counts[domain]!;
    }
    return sum;
  }

  #satisfiesAffinity(index: number): boolean {
    let isInDomain = true;
    let isInAnyDomain = false;
    for (let i = 0; i < this.#affinityByTerm.length; i++) {
      const { topology, counts, entries } = this.#affinityByTerm[i]!;
      const domain = topology.domains[index]!;
      // The first pod of a group with affinity to itself also needs the topology label.
      if (domain < 0) return false;
      isInDomain &&= counts[domain]! > 0;
      isInAnyDomain ||= entries > 0;
    }
    return isInDomain || (!isInAnyDomain && this.#matchesItself);
  }

  #countAll(): void {
    const { labelsOf, cluster } = this.#context;
    const { placed } = cluster;
    const { rules, namespace, labels } = this.#incoming;
    this.#matchesItself = rules.affinity.every(
      (term) => reaches(term, namespace, namespace, labelsOf) && term.matches(labels),
    );
    for (const tallies of [this.#affinity, this.#antiAffinity, this.#existingAntiAffinity, this.#scores])
      tallies.clear();
    this.#antiAffinityList = this.#existingAntiAffinityList = this.#scoreList = [];
    this.#effects = new WeakMap();
    this.#filteredBy = new WeakMap();
    this.#affinityByTerm = rules.affinity.map((term) => this.#tally(this.#affinity, term));
    for (const term of rules.antiAffinity) this.#tally(this.#antiAffinity, term);
    const countClass = (podClass: PodClass): void =>
      podClass.forEachNode((node, count) => {
        this.#count(podClass, node, count);
      });
    const namespaces = this.#ownNamespaces();
    if (namespaces === undefined) {
      for (const podClass of placed.classes()) countClass(podClass);
    } else {
      for (const name of namespaces) for (const podClass of placed.classes(name)) countClass(podClass);
      for (const podClass of placed.classesWithTerms()) if (!namespaces.has(podClass.namespace)) countClass(podClass);
    }
    this.#listTallies();
  }

  /** Returns the namespaces that the incoming pod's own terms cover; undefined if a term selects namespaces by label. */
  #ownNamespaces(): ReadonlySet<string> | undefined {
    const { rules, namespace } = this.#incoming;
    const names = new Set<string>();
    for (const term of [
      ...rules.affinity,
      ...rules.antiAffinity,
      ...rules.preferred.map((preference) => preference.term),
    ]) {
      if (term.namespaceMatches !== undefined) return undefined;
      for (const name of term.namespaces ?? [namespace]) names.add(name);
    }
    return names;
  }

  readonly #count = (podClass: PodClass, node: NodeView, change: number): void => {
    if (node.index < 0) return;
    const { matchesAffinity, antiAffinity, existingAntiAffinity, scores } = this.#effectOf(podClass);
    if (matchesAffinity) for (const tally of this.#affinity.values()) add(tally, node, change, change);
    for (const tally of antiAffinity) add(tally, node, change, change);
    for (const tally of existingAntiAffinity) add(tally, node, change, change);
    for (const { tally, weight } of scores) add(tally, node, change, weight * change);
  };

  #effectOf(podClass: PodClass): Effect {
    let effect = this.#effects.get(podClass);
    if (effect === undefined) {
      effect = this.#findEffect(podClass);
      this.#effects.set(podClass, effect);
    }
    return effect;
  }

  #findEffect(podClass: Pick<PodClass, 'namespace' | 'labels' | 'affinity'>): Effect {
    const { namespace, labels, rules } = this.#incoming;
    const { labelsOf, rulesOf, hardPodAffinityWeight } = this.#context;
    const matchesOwn = (term: AffinityTerm): boolean =>
      reaches(term, namespace, podClass.namespace, labelsOf) && term.matches(podClass.labels);
    const matchesExisting = (term: AffinityTerm): boolean =>
      reachesIncoming(term, podClass.namespace, namespace, labelsOf) && term.matches(labels);
    const matchesAffinity = rules.affinity.length > 0 && rules.affinity.every(matchesOwn);
    const antiAffinity = rules.antiAffinity.filter(matchesOwn).map((term) => this.#tally(this.#antiAffinity, term));
    const existing = rulesOf(podClass);
    const existingAntiAffinity = existing.antiAffinity
      .filter(matchesExisting)
      .map((term) => this.#tally(this.#existingAntiAffinity, term));
    const scores = [
      ...rules.preferred.filter(({ term }) => matchesOwn(term)),
      ...existing.preferred.filter(({ term }) => matchesExisting(term)),
    ].map(({ term, weight }) => ({ tally: this.#tally(this.#scores, term), weight }));
    if (hardPodAffinityWeight > 0) {
      for (const term of existing.affinity) {
        if (matchesExisting(term))
          scores.push({ tally: this.#tally(this.#scores, term), weight: hardPodAffinityWeight });
      }
    }
    this.#listTallies();
    const isNone = !matchesAffinity && antiAffinity.length + existingAntiAffinity.length + scores.length === 0;
    return isNone ? noEffect : { matchesAffinity, antiAffinity, existingAntiAffinity, scores };
  }

  #tally(tallies: Map<string, Tally>, { topologyKey }: AffinityTerm): Tally {
    let tally = tallies.get(topologyKey);
    if (tally === undefined) {
      const topology = this.#context.cluster.topology(topologyKey);
      tally = { topology, counts: new Int32Array(topology.size), entries: 0 };
      tallies.set(topologyKey, tally);
    }
    return tally;
  }

  #listTallies(): void {
    if (this.#antiAffinityList.length !== this.#antiAffinity.size)
      this.#antiAffinityList = [...this.#antiAffinity.values()];
    if (this.#existingAntiAffinityList.length !== this.#existingAntiAffinity.size)
      this.#existingAntiAffinityList = [...this.#existingAntiAffinity.values()];
    if (this.#scoreList.length !== this.#scores.size) this.#scoreList = [...this.#scores.values()];
  }

  #refreshTerms(): void {
    const { affinityTerms } = this.#context.cluster;
    if (this.#termsRevision === affinityTerms.revision) return;
    this.#termsRevision = affinityTerms.revision;
    const { antiAffinity, scored } = matchExistingTerms(this.#incoming, this.#context);
    this.#mayHaveExistingAntiAffinity = antiAffinity;
    this.#mayBeScored = scored;
  }
}

/**
 * Returns whether any pod, scheduled or not, has a term that matches the incoming pod: an anti-affinity term (`antiAffinity`), or a
 * term that affects its score (`scored`).
 */
export function matchExistingTerms(
  { namespace, labels }: Pick<IncomingPod, 'namespace' | 'labels'>,
  { cluster, rulesOf, labelsOf, hardPodAffinityWeight }: AffinityContext,
): { readonly antiAffinity: boolean; readonly scored: boolean } {
  let antiAffinity = false;
  let scored = false;
  cluster.affinityTerms.each((affinity, owner) => {
    const rules = rulesOf({ affinity });
    const matches = (term: AffinityTerm): boolean =>
      reachesIncoming(term, owner, namespace, labelsOf) && term.matches(labels);
    antiAffinity ||= rules.antiAffinity.some(matches);
    scored ||=
      rules.preferred.some(({ term }) => matches(term)) || (hardPodAffinityWeight > 0 && rules.affinity.some(matches));
  });
  return { antiAffinity, scored };
}

function isCounted(tallies: readonly Tally[], index: number): boolean {
  for (let i = 0; i < tallies.length; i++) {
    const { topology, counts } = tallies[i]!;
    const domain = topology.domains[index]!;
    if (domain >= 0 && counts[domain]! > 0) return true;
  }
  return false;
}

function add(tally: Tally, { index }: NodeView, entries: number, amount: number): void {
  const domain = tally.topology.domains[index]!;
  if (domain < 0) return;
  tally.counts[domain]! += amount;
  tally.entries += entries;
}
