import type { Node } from '../../api/node.ts';
import type { Pod } from '../../api/pod.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { PodClass } from '../../cluster/placed-pods.ts';
import type { Topology } from '../../cluster/topologies.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import type { SpreadConstraint, Spreading } from './spread-constraints.ts';

/** Each node is a domain of its own. */
const hostnameKey = 'kubernetes.io/hostname';

/** The pods in one namespace that a selector matches, without terminating pods. */
interface Selected {
  readonly constraint: SpreadConstraint;
  /** node index -> number of selected pods */
  readonly onNode: Int32Array;
  /** class -> whether the selector matches it */
  readonly known: WeakMap<PodClass, boolean>;
  readonly hard: HardTally[];
  readonly soft: SoftTally[];
}

interface SoftTally {
  readonly constraint: SpreadConstraint;
  readonly topology: Topology;
  readonly isByHostname: boolean;
  readonly selected: Selected;
  /** node index -> 1 if the node counts; undefined: all nodes count */
  readonly counting: Uint8Array | undefined;
  /** domain number -> number of selected pods on its counting nodes */
  readonly counts: Int32Array;
}

/** A soft constraint with the data for scoring nodes. */
interface ScoredTally extends SoftTally {
  /** node index -> index of its count; -1: the node lacks the label */
  readonly slots: Int32Array;
  /** Pods in the node's domain; by hostname, pods on the node itself. */
  readonly slotCounts: Int32Array;
}

interface HardTally extends SoftTally {
  /** domain number -> 1 if one of its nodes counts */
  readonly isDomain: Uint8Array;
  readonly domainCount: number;
  /** Minimum of the counts of all domains; 0 if there are fewer domains than minDomains. */
  min: number;
  isMinKnown: boolean;
}

export type SpreadVerdict = 'fits' | 'skewed' | 'unlabeled';

/** One weight per soft constraint, in their order. */
export type SpreadWeights = readonly number[];

/** Raw score of a node that is ignored; it is normalized to 0. */
export const ignoredNode = -1;

/** The incoming pod: everything that the constraints read of it. */
export interface SpreadPod {
  readonly namespace: string;
  readonly spreading: Spreading;
  /** Returns whether the node matches the pod's nodeSelector and required node affinity. */
  readonly matchesNode: (node: Node) => boolean;
  readonly hasNodeAffinity: boolean;
  /** Returns whether the pod tolerates the node's NoSchedule and NoExecute taints. */
  readonly isTolerated: (node: Node) => boolean;
}

/**
 * Counts the pods that the spread constraints of incoming pods with the same signature select. `refresh` applies the changes since the
 * last call. It recounts everything only after nodes changed.
 */
export class SpreadState {
  readonly #incoming: SpreadPod;
  readonly #cluster: Pick<ClusterLister, 'nodes' | 'nodesRevision' | 'placed' | 'topology'>;
  #nodesRevision = -1;
  #version = -1;
  #selected: readonly Selected[] = [];
  #hard: readonly HardTally[] = [];
  #soft: readonly ScoredTally[] = [];
  /** node index -> 1 if the node has the labels of all soft constraints; undefined: all nodes are scored */
  #scored: Uint8Array | undefined;

  constructor(incoming: SpreadPod, cluster: Pick<ClusterLister, 'nodes' | 'nodesRevision' | 'placed' | 'topology'>) {
    this.#incoming = incoming;
    this.#cluster = cluster;
  }

  refresh(): void {
    const { nodesRevision, placed } = this.#cluster;
    const isCurrent = this.#nodesRevision === nodesRevision;
    if (!isCurrent || !placed.changesSince(this.#version, this.#count)) {
      this.#nodesRevision = nodesRevision;
      this.#begin();
      for (const podClass of placed.classes(this.#incoming.namespace)) {
        podClass.forEachNode((node, count) => this.#count(podClass, node, count));
      }
    }
    this.#version = placed.version;
    for (const tally of this.#hard) if (!tally.isMinKnown) computeMin(tally);
  }

  /** Returns whether assigning this pod to a node may change the verdict on that node. */
  isFilteredBy({ namespace, labels }: Pod): boolean {
    if (namespace !== this.#incoming.namespace) return false;
    return this.#hard.some(({ constraint }) => !constraint.countsNone && constraint.selects(labels));
  }

  /** Evaluates the hard constraints. Allocates nothing. */
  verdict(index: number): SpreadVerdict {
    for (let i = 0; i < this.#hard.length; i++) {
      const { constraint, topology, counts, min } = this.#hard[i]!;
      const domain = topology.domains[index]!;
      if (domain < 0) return 'unlabeled';
      const skew = counts[domain]! + (constraint.selectsItself ? 1 : 0) - min;
      if (skew > constraint.maxSkew) return 'skewed';
    }
    return 'fits';
  }

  /** Moves the indexes of the nodes that fit to the front, in their order. Returns their number. */
  keepFitting(indexes: Int32Array, size: number): number {
    let left = 0;
    for (let i = 0; i < size; i++) {
      const index = indexes[i]!;
      if (this.verdict(index) === 'fits') indexes[left++] = index;
    }
    return left;
  }

  /** Returns kube-scheduler's weights: the more domains these nodes have in a topology, the higher its weight. */
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

  /** Scores by the soft constraints: lower is better; `ignoredNode` for a node that is ignored. */
  score(index: number, weights: SpreadWeights): number {
    if (this.#scored !== undefined && this.#scored[index] === 0) return ignoredNode;
    let score = 0;
    for (let i = 0; i < this.#soft.length; i++) {
      const { constraint, slots, slotCounts } = this.#soft[i]!;
      const slot = slots[index]!;
      if (slot >= 0) score += slotCounts[slot]! * weights[i]! + (constraint.maxSkew - 1);
    }
    return Math.round(score);
  }

  /** Like `score` for the first `size` nodes of `indexes`. */
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
    for (let i = 0; i < size; i++) if (scored[indexes[i]!] === 0) scores[indexes[i]!] = ignoredNode;
  }

  #begin(): void {
    const { hard, soft, needsAllKeys } = this.#incoming.spreading;
    const { nodes } = this.#cluster;
    /** selector as text -> the pods it selects */
    const selected = new Map<string, Selected>();
    const selectedBy = (constraint: SpreadConstraint): Selected => {
      let known = selected.get(constraint.selectorText);
      if (known === undefined) {
        known = { constraint, onNode: new Int32Array(nodes.length), known: new WeakMap(), hard: [], soft: [] };
        selected.set(constraint.selectorText, known);
      }
      return known;
    };
    const hardKeys = this.#labeled(hard);
    this.#scored = needsAllKeys ? this.#labeled(soft) : undefined;
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

  #tally(constraint: SpreadConstraint, labeled: Uint8Array | undefined, selected: Selected): SoftTally {
    const topology = this.#cluster.topology(constraint.topologyKey);
    return {
      constraint,
      topology,
      isByHostname: constraint.topologyKey === hostnameKey,
      selected,
      counting: this.#counting(constraint, labeled),
      counts: new Int32Array(topology.size),
    };
  }

  /** Returns node index -> 1 if the node has the labels of all constraints; undefined: all nodes have them */
  #labeled(constraints: readonly SpreadConstraint[]): Uint8Array | undefined {
    const topologies = constraints.map(({ topologyKey }) => this.#cluster.topology(topologyKey).domains);
    if (topologies.every((domains) => !domains.includes(-1))) return undefined;
    return Uint8Array.from(this.#cluster.nodes, ({ index }) => (topologies.every((of) => of[index]! >= 0) ? 1 : 0));
  }

  #counting(
    { honorsAffinity, honorsTaints }: SpreadConstraint,
    labeled: Uint8Array | undefined,
  ): Uint8Array | undefined {
    const { matchesNode, hasNodeAffinity, isTolerated } = this.#incoming;
    const checksAffinity = honorsAffinity && hasNodeAffinity;
    if (!checksAffinity && !honorsTaints) return labeled;
    return Uint8Array.from(this.#cluster.nodes, ({ index, node }) => {
      if (labeled?.[index] === 0) return 0;
      return (!checksAffinity || matchesNode(node)) && (!honorsTaints || isTolerated(node)) ? 1 : 0;
    });
  }

  readonly #count = (podClass: PodClass, { index }: NodeView, change: number): void => {
    if (index < 0 || podClass.deleting || podClass.namespace !== this.#incoming.namespace) return;
    for (let i = 0; i < this.#selected.length; i++) {
      const selected = this.#selected[i]!;
      if (!isSelected(selected, podClass)) continue;
      selected.onNode[index]! += change;
      for (let j = 0; j < selected.hard.length; j++) {
        if (addTo(selected.hard[j]!, index, change)) selected.hard[j]!.isMinKnown = false;
      }
      for (let j = 0; j < selected.soft.length; j++) addTo(selected.soft[j]!, index, change);
    }
  };
}

function isSelected({ constraint, known }: Selected, podClass: PodClass): boolean {
  let matches = known.get(podClass);
  if (matches === undefined) {
    matches = !constraint.countsNone && constraint.selects(podClass.labels);
    known.set(podClass, matches);
  }
  return matches;
}

/** Adds `change` to the node's domain. Returns whether the node counts. */
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
  return { ...tally, isDomain, domainCount, min: 0, isMinKnown: false };
}

function computeMin(tally: HardTally): void {
  const { counts, isDomain, domainCount, constraint } = tally;
  tally.isMinKnown = true;
  if (domainCount < constraint.minDomains) {
    tally.min = 0;
    return;
  }
  let min = Infinity;
  for (let domain = 0; domain < counts.length; domain++) {
    if (isDomain[domain] === 1 && counts[domain]! < min) min = counts[domain]!;
  }
  tally.min = min;
}

/** Returns the number of domains that these nodes are in. Nodes without the label count as one more domain. */
function domainsAmong(nodes: Int32Array, { domains, size, isOnAll }: Topology, scored: Uint8Array | undefined): number {
  const seen = new Uint8Array(size + 1);
  const maxCount = isOnAll ? size : size + 1;
  let count = 0;
  for (let i = 0; i < nodes.length && count < maxCount; i++) {
    const index = nodes[i]!;
    if (scored?.[index] === 0) continue;
    const position = domains[index]! + 1;
    if (seen[position] === 0) {
      seen[position] = 1;
      count++;
    }
  }
  return count;
}

/** Contribution of one soft constraint to the scores of nodes. */
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

/** Scores two constraints, the number of system defaults, in a single pass. */
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
