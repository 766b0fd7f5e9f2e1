import type { Node } from '../../api/node.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { PodClass } from '../../cluster/placed-pods.ts';
import type { Topology } from '../../cluster/topologies.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import type { SpreadConstraint, Spreading } from './spread-constraints.ts';

/** Every node's own value counts for itself. */
const hostnameKey = 'kubernetes.io/hostname';

/** The pods of one namespace that one selector selects, and are not on their way out. */
interface Selected {
  readonly constraint: SpreadConstraint;
  /** node index -> how many are there */
  readonly onNode: Int32Array;
  /** class -> whether it is selected */
  readonly known: WeakMap<PodClass, boolean>;
  readonly hard: HardTally[];
  readonly soft: SoftTally[];
}

interface SoftTally {
  readonly constraint: SpreadConstraint;
  readonly topology: Topology;
  readonly isByHostname: boolean;
  readonly selected: Selected;
  /** node index -> 1 where it counts; undefined: everywhere */
  readonly counting: Uint8Array | undefined;
  /** number of the domain -> selected pods on its nodes that count */
  readonly counts: Int32Array;
}

/** Of a soft constraint, with what a node is scored by. */
interface ScoredTally extends SoftTally {
  /** node index -> where its count is; -1: it lacks the label */
  readonly slots: Int32Array;
  /** Of its domain; by hostname, of the node alone. */
  readonly slotCounts: Int32Array;
}

interface HardTally extends SoftTally {
  /** number of the domain -> 1 where one of its nodes counts */
  readonly isDomain: Uint8Array;
  readonly domainCount: number;
  /** The least of the counts of all domains, or 0 where there are too few. */
  least: number;
  isLeastKnown: boolean;
}

export type SpreadVerdict = 'fits' | 'skewed' | 'unlabelled';

/** What a scored node is measured against: one weight for each of the soft constraints, in their order. */
export type SpreadWeights = readonly number[];

/** A node that is left aside: it gets nothing in the end. */
export const leftAside = -1;

/** Who asks: all that is read of a pod. */
export interface SpreadAsking {
  readonly namespace: string;
  readonly spreading: Spreading;
  /** Whether the pod's nodeSelector and required node affinity let it go there. */
  readonly isChosen: (node: Node) => boolean;
  readonly choosesNodes: boolean;
  /** Whether it tolerates the taints that would keep it away. */
  readonly isTolerated: (node: Node) => boolean;
}

/**
 * How the pods are spread that the constraints of pods that ask alike are about. `bringUpToDate` follows what has come to nodes and
 * left them since the last time; only when nodes have changed all is counted anew.
 */
export class SpreadState {
  readonly #asking: SpreadAsking;
  readonly #cluster: Pick<ClusterLister, 'nodes' | 'nodesRevision' | 'placed' | 'topology'>;
  #nodesRevision = -1;
  #version = -1;
  #selected: readonly Selected[] = [];
  #hard: readonly HardTally[] = [];
  #soft: readonly ScoredTally[] = [];
  /** node index -> 1 where it has the labels of all soft constraints; undefined: it does not matter */
  #scored: Uint8Array | undefined;

  constructor(asking: SpreadAsking, cluster: Pick<ClusterLister, 'nodes' | 'nodesRevision' | 'placed' | 'topology'>) {
    this.#asking = asking;
    this.#cluster = cluster;
  }

  bringUpToDate(): void {
    const { nodesRevision, placed } = this.#cluster;
    const isAbout = this.#nodesRevision === nodesRevision;
    if (!isAbout || !placed.changesSince(this.#version, this.#count)) {
      this.#nodesRevision = nodesRevision;
      this.#begin();
      for (const kind of placed.classes(this.#asking.namespace)) {
        kind.forEachNode((node, count) => this.#count(kind, node, count));
      }
    }
    this.#version = placed.version;
    for (const tally of this.#hard) if (!tally.isLeastKnown) findLeast(tally);
  }

  /** By the hard constraints. Allocates nothing. */
  verdict(index: number): SpreadVerdict {
    for (let i = 0; i < this.#hard.length; i++) {
      const { constraint, topology, counts, least } = this.#hard[i]!;
      const domain = topology.domains[index]!;
      if (domain < 0) return 'unlabelled';
      const skew = counts[domain]! + (constraint.selectsItself ? 1 : 0) - least;
      if (skew > constraint.maxSkew) return 'skewed';
    }
    return 'fits';
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

  /** The more domains a topology has among these nodes, the more a pod in one of them weighs (kube-scheduler's formula). */
  weights(feasible: Int32Array): SpreadWeights {
    const scored = this.#scored;
    let count = feasible.length;
    if (scored !== undefined) {
      count = 0;
      for (let i = 0; i < feasible.length; i++) count += scored[feasible[i]!]!;
    }
    return this.#soft.map(({ isByHostname, topology }) => {
      const size = isByHostname ? count : domainsAmong(feasible, topology, scored);
      return Math.log(size + 2);
    });
  }

  /** By the soft constraints: the less the better; `leftAside` for a node that is left aside. */
  score(index: number, weights: SpreadWeights): number {
    if (this.#scored !== undefined && this.#scored[index] === 0) return leftAside;
    let score = 0;
    for (let i = 0; i < this.#soft.length; i++) {
      const { constraint, slots, slotCounts } = this.#soft[i]!;
      const slot = slots[index]!;
      if (slot >= 0) score += slotCounts[slot]! * weights[i]! + (constraint.maxSkew - 1);
    }
    return Math.round(score);
  }

  /** As `score`, of the first `size` nodes of `indexes`. */
  scoreAll(indexes: Int32Array, size: number, weights: SpreadWeights, scores: Float64Array): void {
    const shares = this.#soft.map(({ constraint, slots, slotCounts }, i) => ({
      slots,
      counts: slotCounts,
      weight: weights[i]!,
      amount: constraint.maxSkew - 1,
    }));
    const [first, second] = shares;
    if (shares.length === 2) {
      scoreByTwo(first!, second!, indexes, size, scores);
    } else {
      for (let i = 0; i < size; i++) scores[indexes[i]!] = 0;
      for (const share of shares) addShare(share, indexes, size, scores);
      for (let i = 0; i < size; i++) scores[indexes[i]!] = Math.round(scores[indexes[i]!]!);
    }
    const scored = this.#scored;
    if (scored === undefined) return;
    for (let i = 0; i < size; i++) if (scored[indexes[i]!] === 0) scores[indexes[i]!] = leftAside;
  }

  #begin(): void {
    const { hard, soft, needsAllKeys } = this.#asking.spreading;
    const { nodes } = this.#cluster;
    /** selector -> who it selects */
    const selected = new Map<string, Selected>();
    const selectedBy = (constraint: SpreadConstraint): Selected => {
      let known = selected.get(constraint.selectorText);
      if (known === undefined) {
        known = { constraint, onNode: new Int32Array(nodes.length), known: new WeakMap(), hard: [], soft: [] };
        selected.set(constraint.selectorText, known);
      }
      return known;
    };
    const hardKeys = this.#labelled(hard);
    this.#scored = needsAllKeys ? this.#labelled(soft) : undefined;
    this.#hard = hard.map((constraint) => {
      const tally = hardTally(this.#tally(constraint, hardKeys, selectedBy(constraint)));
      tally.selected.hard.push(tally);
      return tally;
    });
    this.#soft = soft.map((constraint) => {
      const tally = scoredTally(this.#tally(constraint, this.#scored, selectedBy(constraint)));
      tally.selected.soft.push(tally);
      return tally;
    });
    this.#selected = [...selected.values()];
  }

  #tally(constraint: SpreadConstraint, labelled: Uint8Array | undefined, selected: Selected): SoftTally {
    const topology = this.#cluster.topology(constraint.topologyKey);
    return {
      constraint,
      topology,
      isByHostname: constraint.topologyKey === hostnameKey,
      selected,
      counting: this.#counting(constraint, labelled),
      counts: new Int32Array(topology.size),
    };
  }

  /** node index -> 1 where it has the labels of all of them; undefined: everywhere */
  #labelled(constraints: readonly SpreadConstraint[]): Uint8Array | undefined {
    const topologies = constraints.map(({ topologyKey }) => this.#cluster.topology(topologyKey).domains);
    if (topologies.every((domains) => !domains.includes(-1))) return undefined;
    return Uint8Array.from(this.#cluster.nodes, ({ index }) => (topologies.every((of) => of[index]! >= 0) ? 1 : 0));
  }

  #counting(
    { honorsAffinity, honorsTaints }: SpreadConstraint,
    labelled: Uint8Array | undefined,
  ): Uint8Array | undefined {
    const { isChosen, choosesNodes, isTolerated } = this.#asking;
    const asksAffinity = honorsAffinity && choosesNodes;
    if (!asksAffinity && !honorsTaints) return labelled;
    return Uint8Array.from(this.#cluster.nodes, ({ index, node }) => {
      if (labelled?.[index] === 0) return 0;
      return (!asksAffinity || isChosen(node)) && (!honorsTaints || isTolerated(node)) ? 1 : 0;
    });
  }

  readonly #count = (kind: PodClass, { index }: NodeView, change: number): void => {
    if (index < 0 || kind.deleting || kind.namespace !== this.#asking.namespace) return;
    for (let i = 0; i < this.#selected.length; i++) {
      const selected = this.#selected[i]!;
      if (!isSelected(selected, kind)) continue;
      selected.onNode[index]! += change;
      for (let j = 0; j < selected.hard.length; j++) {
        if (addTo(selected.hard[j]!, index, change)) selected.hard[j]!.isLeastKnown = false;
      }
      for (let j = 0; j < selected.soft.length; j++) addTo(selected.soft[j]!, index, change);
    }
  };
}

function isSelected({ constraint, known }: Selected, kind: PodClass): boolean {
  let answer = known.get(kind);
  if (answer === undefined) {
    answer = !constraint.countsNobody && constraint.selects(kind.labels);
    known.set(kind, answer);
  }
  return answer;
}

/** Whether the node counts. */
function addTo({ topology, counting, counts }: SoftTally, index: number, change: number): boolean {
  const domain = topology.domains[index]!;
  if (domain < 0 || counting?.[index] === 0) return false;
  counts[domain]! += change;
  return true;
}

function scoredTally(tally: SoftTally): ScoredTally {
  const { isByHostname, topology, counts, selected } = tally;
  if (!isByHostname) return { ...tally, slots: topology.domains, slotCounts: counts };
  const slots = topology.domains.map((domain, index) => (domain < 0 ? -1 : index));
  return { ...tally, slots, slotCounts: selected.onNode };
}

function hardTally(tally: SoftTally): HardTally {
  const { topology, counting } = tally;
  const isDomain = new Uint8Array(topology.size);
  for (let index = 0; index < topology.domains.length; index++) {
    const domain = topology.domains[index]!;
    if (domain >= 0 && (counting === undefined || counting[index] === 1)) isDomain[domain] = 1;
  }
  const domainCount = isDomain.reduce((sum, is) => sum + is, 0);
  return { ...tally, isDomain, domainCount, least: 0, isLeastKnown: false };
}

function findLeast(tally: HardTally): void {
  const { counts, isDomain, domainCount, constraint } = tally;
  tally.isLeastKnown = true;
  if (domainCount < constraint.minDomains) {
    tally.least = 0;
    return;
  }
  let least = Infinity;
  for (let domain = 0; domain < counts.length; domain++) {
    if (isDomain[domain] === 1 && counts[domain]! < least) least = counts[domain]!;
  }
  tally.least = least;
}

/** How many domains of the topology these nodes are in; those that lack the label are one more. */
function domainsAmong(nodes: Int32Array, { domains, size, isOnAll }: Topology, scored: Uint8Array | undefined): number {
  const seen = new Uint8Array(size + 1);
  const most = isOnAll ? size : size + 1;
  let count = 0;
  for (let i = 0; i < nodes.length && count < most; i++) {
    const index = nodes[i]!;
    if (scored?.[index] === 0) continue;
    const place = domains[index]! + 1;
    if (seen[place] === 0) {
      seen[place] = 1;
      count++;
    }
  }
  return count;
}

/** What one soft constraint adds to the score of a node. */
interface Share {
  readonly slots: Int32Array;
  readonly counts: Int32Array;
  readonly weight: number;
  readonly amount: number;
}

function addShare(
  { slots, counts, weight, amount }: Share,
  indexes: Int32Array,
  size: number,
  scores: Float64Array,
): void {
  for (let i = 0; i < size; i++) {
    const index = indexes[i]!;
    const slot = slots[index]!;
    if (slot >= 0) scores[index] = scores[index]! + (counts[slot]! * weight + amount);
  }
}

/** As many as the system's defaults have: in one go. */
function scoreByTwo(a: Share, b: Share, indexes: Int32Array, size: number, scores: Float64Array): void {
  const { slots: aSlots, counts: aCounts, weight: aWeight, amount: aAmount } = a;
  const { slots: bSlots, counts: bCounts, weight: bWeight, amount: bAmount } = b;
  for (let i = 0; i < size; i++) {
    const index = indexes[i]!;
    const aSlot = aSlots[index]!;
    const bSlot = bSlots[index]!;
    let score = aSlot < 0 ? 0 : aCounts[aSlot]! * aWeight + aAmount;
    if (bSlot >= 0) score += bCounts[bSlot]! * bWeight + bAmount;
    scores[index] = Math.round(score);
  }
}
