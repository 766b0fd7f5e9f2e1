import type { Labels } from '../api/label-selector.ts';
import type { Pod, PodAffinityRules } from '../api/pod.ts';
import { addCount } from '../base/add-count.ts';
import type { NodeInfo, NodeView, PodChangeLog } from './node-info.ts';

/** Pods on nodes that are the same to every selector, and say the same of others: how many of them are where. */
export interface PodClass {
  readonly namespace: string;
  readonly labels: Labels;
  readonly affinity: PodAffinityRules | undefined;
  readonly deleting: boolean;
  /** Every node that has some of them, with how many. Also nodes that the API has not shown, whose index is -1. */
  forEachNode(visit: (node: NodeView, count: number) => void): void;
}

/** How many more of a class are on a node now, or fewer. */
export type PlacedPodVisit = (kind: PodClass, node: NodeView, change: number) => void;

/** The pods on nodes by what tells them apart, for plugins that ask where pods of some sort are. */
export interface PlacedPodsView {
  /** Moves with every change, also with one that takes another back. */
  readonly version: number;
  /** Of one namespace; absent: all. */
  classes(namespace?: string): Iterable<PodClass>;
  /** Those that say something of other pods. */
  classesWithTerms(): Iterable<PodClass>;
  /** All that has changed since that version, in order. False when that is not known any more. */
  changesSince(version: number, visit: PlacedPodVisit): boolean;
}

interface Step {
  readonly node: NodeInfo;
  readonly pods: readonly Pod[];
  readonly change: 1 | -1;
}

interface Change {
  readonly kind: PodClass;
  readonly node: NodeInfo;
  readonly change: number;
}

/** So many changes are kept for those who have read before, however few pods there are. */
const fewestChanges = 256;
/** And so many at most. */
const mostChanges = 16_384;

/**
 * Nothing is kept before somebody asks for the first time. From then on what comes to a node and leaves it is noted, and worked in when
 * somebody asks again, and by `settle`: what a transaction did and took back before costs two notes. Changes are kept for as long as following
 * them is less work than counting all pods anew; so what is kept of pods and nodes that are gone is no more than what there is of others.
 */
export class PlacedPods implements PlacedPodsView, PodChangeLog {
  readonly #nodes: () => Iterable<NodeInfo>;
  #isKept = false;
  #pending: Step[] = [];
  /** labels -> classes of pods that have them */
  readonly #byLabels = new Map<Labels, PlacedClass[]>();
  /** namespace -> its classes */
  readonly #byNamespace = new Map<string, Set<PlacedClass>>();
  readonly #withTerms = new Set<PlacedClass>();
  /** Pairs of a class and a node that has some of it. */
  #places = 0;
  #changes: Change[] = [];
  /** Of the first change that is kept. */
  #firstVersion = 0;

  /** `nodes`: all that hold pods. */
  constructor(nodes: () => Iterable<NodeInfo>) {
    this.#nodes = nodes;
  }

  came(node: NodeInfo, pods: readonly Pod[]): void {
    if (this.#isKept) this.#note({ node, pods, change: 1 });
  }

  left(node: NodeInfo, pods: readonly Pod[]): void {
    if (this.#isKept) this.#note({ node, pods, change: -1 });
  }

  /** No transaction is open that could take back what was noted: works it in, so that no pod is kept for it. */
  settle(): void {
    if (this.#pending.length > 0) this.#workIn();
  }

  get version(): number {
    this.#workIn();
    return this.#firstVersion + this.#changes.length;
  }

  *classes(namespace?: string): Iterable<PodClass> {
    this.#workIn();
    if (namespace !== undefined) yield* this.#byNamespace.get(namespace) ?? [];
    else for (const classes of this.#byNamespace.values()) yield* classes;
  }

  classesWithTerms(): Iterable<PodClass> {
    this.#workIn();
    return this.#withTerms;
  }

  changesSince(version: number, visit: PlacedPodVisit): boolean {
    this.#workIn();
    if (version < this.#firstVersion) return false;
    for (let i = version - this.#firstVersion; i < this.#changes.length; i++) {
      const { kind, node, change } = this.#changes[i]!;
      visit(kind, node, change);
    }
    return true;
  }

  #note(step: Step): void {
    const last = this.#pending.at(-1);
    if (last !== undefined && undoes(step, last)) {
      this.#pending.pop();
      return;
    }
    this.#pending.push(step);
  }

  #workIn(): void {
    if (!this.#isKept) {
      this.#isKept = true;
      for (const node of this.#nodes()) for (const pod of node.pods.values()) this.#count(node, pod, 1);
      return;
    }
    if (this.#pending.length === 0) return;
    const steps = this.#pending;
    this.#pending = [];
    for (const { node, pods, change } of steps) for (const pod of pods) this.#count(node, pod, change);
  }

  #count(node: NodeInfo, pod: Pod, change: 1 | -1): void {
    const kind = this.#classOf(pod);
    const before = kind.nodeCount;
    kind.change(node, change);
    this.#places += kind.nodeCount - before;
    if (kind.nodeCount === 0) this.#drop(kind);
    this.#changes.push({ kind, node, change });
    this.#forgetOldChanges();
  }

  /** Seldom enough that a change costs the same however many are kept. */
  #forgetOldChanges(): void {
    const kept = Math.min(Math.max(this.#places, fewestChanges), mostChanges);
    if (this.#changes.length < 2 * kept) return;
    this.#firstVersion += this.#changes.length - kept;
    this.#changes = this.#changes.slice(-kept);
  }

  #classOf({ namespace, labels, deleting, template }: Pod): PlacedClass {
    const { podAffinity } = template;
    let alike = this.#byLabels.get(labels);
    if (alike === undefined) this.#byLabels.set(labels, (alike = []));
    for (const known of alike) {
      const isSame = known.namespace === namespace && known.deleting === deleting && known.affinity === podAffinity;
      if (isSame) return known;
    }
    const made = new PlacedClass(namespace, labels, podAffinity, deleting);
    alike.push(made);
    const inNamespace = this.#byNamespace.get(namespace);
    if (inNamespace === undefined) this.#byNamespace.set(namespace, new Set([made]));
    else inNamespace.add(made);
    if (podAffinity !== undefined) this.#withTerms.add(made);
    return made;
  }

  #drop(kind: PlacedClass): void {
    const alike = this.#byLabels.get(kind.labels)!;
    if (alike.length === 1) this.#byLabels.delete(kind.labels);
    else alike.splice(alike.indexOf(kind), 1);
    const inNamespace = this.#byNamespace.get(kind.namespace)!;
    inNamespace.delete(kind);
    if (inNamespace.size === 0) this.#byNamespace.delete(kind.namespace);
    this.#withTerms.delete(kind);
  }
}

class PlacedClass implements PodClass {
  readonly namespace: string;
  readonly labels: Labels;
  readonly affinity: PodAffinityRules | undefined;
  readonly deleting: boolean;
  // Most pods that are like no other have no need of a map.
  #only: NodeInfo | undefined;
  #onlyCount = 0;
  /** Where there is more than one: node -> how many */
  #counts: Map<NodeInfo, number> | undefined;

  constructor(namespace: string, labels: Labels, affinity: PodAffinityRules | undefined, deleting: boolean) {
    this.namespace = namespace;
    this.labels = labels;
    this.affinity = affinity;
    this.deleting = deleting;
  }

  /** How many nodes have some of them. */
  get nodeCount(): number {
    if (this.#counts !== undefined) return this.#counts.size;
    return this.#onlyCount === 0 ? 0 : 1;
  }

  forEachNode(visit: (node: NodeView, count: number) => void): void {
    if (this.#counts === undefined) {
      if (this.#onlyCount !== 0) visit(this.#only!, this.#onlyCount);
    } else {
      for (const [node, count] of this.#counts) visit(node, count);
    }
  }

  change(node: NodeInfo, change: number): void {
    if (this.#counts === undefined) {
      if (this.#onlyCount === 0) this.#only = node;
      if (this.#only === node) {
        this.#onlyCount += change;
        return;
      }
      this.#counts = new Map([[this.#only!, this.#onlyCount]]);
    }
    addCount(this.#counts, node, change);
  }
}

function undoes(step: Step, last: Step): boolean {
  if (step.node !== last.node || step.change === last.change || step.pods.length !== last.pods.length) return false;
  return step.pods === last.pods || (step.pods.length === 1 && step.pods[0] === last.pods[0]);
}
