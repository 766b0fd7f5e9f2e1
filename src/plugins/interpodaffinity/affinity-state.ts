import type { Labels } from '../../api/label-selector.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { PodClass } from '../../cluster/placed-pods.ts';
import type { Topology } from '../../cluster/topologies.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import { reaches, reachesIncoming } from './affinity-rules.ts';
import type { AffinityRules, AffinityTerm, NamespaceLabels } from './affinity-rules.ts';

/** How the plugin takes pods' rules. */
export interface AffinityContext {
  readonly cluster: Pick<ClusterLister, 'affinityTerms' | 'listed' | 'nodesRevision' | 'placed' | 'topology'>;
  /** Compiled; what cannot be understood of a pod on a node counts as nothing. */
  readonly rulesOf: (kind: Pick<PodClass, 'affinity'>) => AffinityRules;
  readonly labelsOf: NamespaceLabels;
  readonly hardPodAffinityWeight: number;
}

/** Who asks: all that others' rules and its own read of a pod. */
export interface Asking {
  readonly namespace: string;
  readonly labels: Labels;
  readonly rules: AffinityRules;
}

/** Something that is counted in each domain of one topology. */
interface Tally {
  readonly topology: Topology;
  /** number of the domain -> how many, or how much they weigh */
  readonly counts: Int32Array;
  /** How many pods and terms are in it; where there are none, all counts are 0. */
  entries: number;
}

/** What one pod of a class, on a node, does to the counts. */
interface Effect {
  readonly isWanted: boolean;
  /** Of what the asking pod does not want, one for each of its terms. */
  readonly unwanted: readonly Tally[];
  /** Of who does not want it, one for each of their terms. */
  readonly unwanting: readonly Tally[];
  readonly scores: readonly { readonly tally: Tally; readonly weight: number }[];
}

const noEffect: Effect = { isWanted: false, unwanted: [], unwanting: [], scores: [] };

export type AffinityVerdict = 'fits' | 'affinity' | 'antiAffinity' | 'existingAntiAffinity';

/**
 * What the pods on nodes mean for pods that ask alike: who is wanted, who is not, and who does not want them, counted by topology
 * domain. `bringUpToDate` follows what has come to nodes and left them since the last time; only when nodes or namespaces have changed
 * all is counted anew.
 */
export class AffinityState {
  readonly #asking: Asking;
  readonly #context: AffinityContext;
  /** The pod is one of those that it wants to be beside. */
  #wantsItself = false;
  /** topology key -> tally */
  #wanted = new Map<string, Tally>();
  #unwanted = new Map<string, Tally>();
  #unwanting = new Map<string, Tally>();
  #scores = new Map<string, Tally>();
  #effects = new WeakMap<PodClass, Effect>();
  /** Those of `#wanted` for each required term. */
  #wantedByTerm: readonly Tally[] = [];
  #unwantedList: readonly Tally[] = [];
  #unwantingList: readonly Tally[] = [];
  #scoreList: readonly Tally[] = [];
  /** Of the nodes and namespaces that all this is of. */
  #nodesRevision = -1;
  #namespacesRevision = -1;
  #version = -1;
  /** Of what is said by any pod, placed or not, that `#mayBeBarred` and `#mayBeScored` are of. */
  #knownRevision = -1;
  #mayBeBarred = false;
  #mayBeScored = false;

  constructor(asking: Asking, context: AffinityContext) {
    this.#asking = asking;
    this.#context = context;
  }

  /** On some node is a pod that does not want it. */
  get isBarred(): boolean {
    return this.#unwantingList.some(({ entries }) => entries > 0);
  }

  /** Some pod, be it on a node or still to be placed, does not want it. */
  get mayBeBarred(): boolean {
    this.#lookAtKnown();
    return this.#mayBeBarred;
  }

  /** Some pod, be it on a node or still to be placed, would rather have it beside itself, or rather not. */
  get mayBeScored(): boolean {
    this.#lookAtKnown();
    return this.#mayBeScored;
  }

  bringUpToDate(): void {
    const { cluster } = this.#context;
    const namespaces = cluster.listed.revision('Namespace');
    const isAbout = this.#nodesRevision === cluster.nodesRevision && this.#namespacesRevision === namespaces;
    if (!isAbout || !cluster.placed.changesSince(this.#version, this.#count)) {
      this.#nodesRevision = cluster.nodesRevision;
      this.#namespacesRevision = namespaces;
      this.#knownRevision = -1;
      this.#countAll();
    }
    this.#version = cluster.placed.version;
  }

  /** Allocates nothing. */
  verdict(index: number): AffinityVerdict {
    if (!this.#hasWanted(index)) return 'affinity';
    if (isCounted(this.#unwantedList, index)) return 'antiAffinity';
    return isCounted(this.#unwantingList, index) ? 'existingAntiAffinity' : 'fits';
  }

  /** Leaves those of the nodes that fit, in their order, at the beginning; answers how many. */
  keepFitting(indexes: Int32Array, size: number): number {
    let left = 0;
    for (let i = 0; i < size; i++) {
      const index = indexes[i]!;
      if (this.verdict(index) === 'fits') indexes[left++] = index;
    }
    return left;
  }

  /** Of all that prefer it to be here, or not here, and of all that it prefers. */
  score(index: number): number {
    let sum = 0;
    for (let i = 0; i < this.#scoreList.length; i++) {
      const { topology, counts } = this.#scoreList[i]!;
      const domain = topology.domains[index]!;
      if (domain >= 0) sum += counts[domain]!;
    }
    return sum;
  }

  #hasWanted(index: number): boolean {
    let isThere = true;
    let isAnywhere = false;
    for (let i = 0; i < this.#wantedByTerm.length; i++) {
      const { topology, counts, entries } = this.#wantedByTerm[i]!;
      const domain = topology.domains[index]!;
      // Also the first of those that want each other has to be in some domain.
      if (domain < 0) return false;
      isThere &&= counts[domain]! > 0;
      isAnywhere ||= entries > 0;
    }
    return isThere || (!isAnywhere && this.#wantsItself);
  }

  #countAll(): void {
    const { labelsOf, cluster } = this.#context;
    const { placed } = cluster;
    const { rules, namespace, labels } = this.#asking;
    this.#wantsItself = rules.affinity.every(
      (term) => reaches(term, namespace, namespace, labelsOf) && term.matches(labels),
    );
    for (const tallies of [this.#wanted, this.#unwanted, this.#unwanting, this.#scores]) tallies.clear();
    this.#unwantedList = this.#unwantingList = this.#scoreList = [];
    this.#effects = new WeakMap();
    this.#wantedByTerm = rules.affinity.map((term) => this.#tally(this.#wanted, term));
    for (const term of rules.antiAffinity) this.#tally(this.#unwanted, term);
    const countClass = (kind: PodClass): void =>
      kind.forEachNode((node, count) => {
        this.#count(kind, node, count);
      });
    const namespaces = this.#ownNamespaces();
    if (namespaces === undefined) {
      for (const kind of placed.classes()) countClass(kind);
    } else {
      for (const name of namespaces) for (const kind of placed.classes(name)) countClass(kind);
      for (const kind of placed.classesWithTerms()) if (!namespaces.has(kind.namespace)) countClass(kind);
    }
    this.#listTallies();
  }

  /** The namespaces whose pods its own terms are about; undefined: who knows. */
  #ownNamespaces(): ReadonlySet<string> | undefined {
    const { rules, namespace } = this.#asking;
    const names = new Set<string>();
    for (const term of [...rules.affinity, ...rules.antiAffinity, ...rules.preferred.map((wish) => wish.term)]) {
      if (term.namespaceMatches !== undefined) return undefined;
      for (const name of term.namespaces ?? [namespace]) names.add(name);
    }
    return names;
  }

  readonly #count = (kind: PodClass, node: NodeView, change: number): void => {
    if (node.index < 0) return;
    const { isWanted, unwanted, unwanting, scores } = this.#effectOf(kind);
    if (isWanted) for (const tally of this.#wanted.values()) add(tally, node, change, change);
    for (const tally of unwanted) add(tally, node, change, change);
    for (const tally of unwanting) add(tally, node, change, change);
    for (const { tally, weight } of scores) add(tally, node, change, weight * change);
  };

  #effectOf(kind: PodClass): Effect {
    let effect = this.#effects.get(kind);
    if (effect === undefined) {
      effect = this.#findEffect(kind);
      this.#effects.set(kind, effect);
    }
    return effect;
  }

  #findEffect(kind: PodClass): Effect {
    const { namespace, labels, rules } = this.#asking;
    const { labelsOf, rulesOf, hardPodAffinityWeight } = this.#context;
    const wants = (term: AffinityTerm): boolean =>
      reaches(term, namespace, kind.namespace, labelsOf) && term.matches(kind.labels);
    const isWantedBy = (term: AffinityTerm): boolean =>
      reachesIncoming(term, kind.namespace, namespace, labelsOf) && term.matches(labels);
    const isWanted = rules.affinity.length > 0 && rules.affinity.every(wants);
    const unwanted = rules.antiAffinity.filter(wants).map((term) => this.#tally(this.#unwanted, term));
    const theirs = rulesOf(kind);
    const unwanting = theirs.antiAffinity.filter(isWantedBy).map((term) => this.#tally(this.#unwanting, term));
    const scores = [
      ...rules.preferred.filter(({ term }) => wants(term)),
      ...theirs.preferred.filter(({ term }) => isWantedBy(term)),
    ].map(({ term, weight }) => ({ tally: this.#tally(this.#scores, term), weight }));
    if (hardPodAffinityWeight > 0) {
      for (const term of theirs.affinity) {
        if (isWantedBy(term)) scores.push({ tally: this.#tally(this.#scores, term), weight: hardPodAffinityWeight });
      }
    }
    this.#listTallies();
    const isNone = !isWanted && unwanted.length + unwanting.length + scores.length === 0;
    return isNone ? noEffect : { isWanted, unwanted, unwanting, scores };
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
    if (this.#unwantedList.length !== this.#unwanted.size) this.#unwantedList = [...this.#unwanted.values()];
    if (this.#unwantingList.length !== this.#unwanting.size) this.#unwantingList = [...this.#unwanting.values()];
    if (this.#scoreList.length !== this.#scores.size) this.#scoreList = [...this.#scores.values()];
  }

  #lookAtKnown(): void {
    const { affinityTerms } = this.#context.cluster;
    if (this.#knownRevision === affinityTerms.revision) return;
    this.#knownRevision = affinityTerms.revision;
    const { barred, scored } = concernOf(this.#asking, this.#context);
    this.#mayBeBarred = barred;
    this.#mayBeScored = scored;
  }
}

/** Whether what pods say of others, be they on nodes or still to be placed, is about such a pod: what bars it, and what scores it. */
export function concernOf(
  { namespace, labels }: Pick<Asking, 'namespace' | 'labels'>,
  { cluster, rulesOf, labelsOf, hardPodAffinityWeight }: AffinityContext,
): { readonly barred: boolean; readonly scored: boolean } {
  let barred = false;
  let scored = false;
  cluster.affinityTerms.each((affinity, owner) => {
    const rules = rulesOf({ affinity });
    const isAbout = (term: AffinityTerm): boolean =>
      reachesIncoming(term, owner, namespace, labelsOf) && term.matches(labels);
    barred ||= rules.antiAffinity.some(isAbout);
    scored ||=
      rules.preferred.some(({ term }) => isAbout(term)) || (hardPodAffinityWeight > 0 && rules.affinity.some(isAbout));
  });
  return { barred, scored };
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
