import type { Labels } from '../api/label-selector.ts';
import type { Pod, PodAffinityRules } from '../api/pod.ts';
import { addCount } from '../base/add-count.ts';
import type { NodeInfo, NodeView, PodChangeLog } from './node-info.ts';

/** Pods on nodes that are equal to every selector and have equal affinity rules, counted per node. */
export interface PodClass {
  readonly namespace: string;
  readonly labels: Labels;
  readonly affinity: PodAffinityRules | undefined;
  readonly deleting: boolean;
  /** Visits every node with such pods and their number. Includes unknown nodes, whose index is -1. */
  forEachNode(visit: (node: NodeView, count: number) => void): void;
}

/** Called with the change of a class's number of pods on a node. */
export type PlacedPodVisit = (podClass: PodClass, node: NodeView, change: number) => void;

/** Index of the pods on nodes by class, for plugins that count pods by labels. */
export interface PlacedPodsView {
  /** Changes with every change, including one that reverts another. */
  readonly version: number;
  /** Returns the classes in a namespace; absent: all classes. */
  classes(namespace?: string): Iterable<PodClass>;
  /** Returns the classes with affinity terms. */
  classesWithTerms(): Iterable<PodClass>;
  /** Visits all changes since that version, in order. Returns false if they are not available anymore. */
  changesSince(version: number, visit: PlacedPodVisit): boolean;
}

interface Step {
  readonly node: NodeInfo;
  readonly pods: readonly Pod[];
  readonly change: 1 | -1;
}

interface Change {
  readonly podClass: PodClass;
  readonly node: NodeInfo;
  readonly change: number;
}

/** Minimum number of changes to keep for readers, however few pods there are. */
const minChanges = 256;
/** Maximum number of changes to keep. */
const maxChanges = 16_384;

/**
 * Starts counting on first use. From then on records the pods that are added to or removed from nodes, and applies the records on the next
 * read or at `settle`. A change that a transaction reverts before that costs only two records. Keeps changes as long as replaying them is
 * cheaper than recounting all pods, so that memory for deleted pods and nodes stays bounded by the number of current ones.
 */
export class PlacedPods implements PlacedPodsView, PodChangeLog {
  readonly #nodes: () => Iterable<NodeInfo>;
  #isCounting = false;
  #pending: Step[] = [];
  /** labels -> classes of pods with them */
  readonly #byLabels = new Map<Labels, PlacedClass[]>();
  /** namespace -> its classes */
  readonly #byNamespace = new Map<string, Set<PlacedClass>>();
  readonly #withTerms = new Set<PlacedClass>();
  /** Number of pairs of a class and a node with pods of it. */
  #pairCount = 0;
  #changes: Change[] = [];
  /** Version of the first change that is kept. */
  #firstVersion: number;

  /** `nodes`: all nodes with pods. */
  constructor(nodes: () => Iterable<NodeInfo>, firstVersion = 0) {
    this.#nodes = nodes;
    this.#firstVersion = firstVersion;
  }

  added(node: NodeInfo, pods: readonly Pod[]): void {
    if (this.#isCounting) this.#record({ node, pods, change: 1 });
  }

  removed(node: NodeInfo, pods: readonly Pod[]): void {
    if (this.#isCounting) this.#record({ node, pods, change: -1 });
  }

  /** Applies the records when no open transaction can revert them, so that they retain no pods. */
  settle(): void {
    if (this.#pending.length > 0) this.#applyPending();
  }

  get version(): number {
    this.#applyPending();
    return this.#firstVersion + this.#changes.length;
  }

  *classes(namespace?: string): Iterable<PodClass> {
    this.#applyPending();
    if (namespace !== undefined) yield* this.#byNamespace.get(namespace) ?? [];
    else for (const classes of this.#byNamespace.values()) yield* classes;
  }

  classesWithTerms(): Iterable<PodClass> {
    this.#applyPending();
    return this.#withTerms;
  }

  changesSince(version: number, visit: PlacedPodVisit): boolean {
    this.#applyPending();
    if (version < this.#firstVersion || version > this.version) return false;
    for (let i = version - this.#firstVersion; i < this.#changes.length; i++) {
      const { podClass, node, change } = this.#changes[i]!;
      visit(podClass, node, change);
    }
    return true;
  }

  #record(step: Step): void {
    const last = this.#pending.at(-1);
    if (last !== undefined && undoes(step, last)) {
      this.#pending.pop();
      return;
    }
    this.#pending.push(step);
  }

  #applyPending(): void {
    if (!this.#isCounting) {
      this.#isCounting = true;
      for (const node of this.#nodes()) for (const pod of node.pods.values()) this.#count(node, pod, 1);
      return;
    }
    if (this.#pending.length === 0) return;
    const steps = this.#pending;
    this.#pending = [];
    for (const { node, pods, change } of steps) for (const pod of pods) this.#count(node, pod, change);
  }

  #count(node: NodeInfo, pod: Pod, change: 1 | -1): void {
    const podClass = this.#classOf(pod);
    const before = podClass.nodeCount;
    podClass.change(node, change);
    this.#pairCount += podClass.nodeCount - before;
    if (podClass.nodeCount === 0) this.#drop(podClass);
    this.#changes.push({ podClass, node, change });
    this.#forgetOldChanges();
  }

  /** Runs rarely enough that the cost per change does not depend on the number of kept changes. */
  #forgetOldChanges(): void {
    const kept = Math.min(Math.max(this.#pairCount, minChanges), maxChanges);
    if (this.#changes.length < 2 * kept) return;
    this.#firstVersion += this.#changes.length - kept;
    this.#changes = this.#changes.slice(-kept);
  }

  #classOf({ namespace, labels, deleting, template }: Pod): PlacedClass {
    const { podAffinity } = template;
    let sameLabels = this.#byLabels.get(labels);
    if (sameLabels === undefined) this.#byLabels.set(labels, (sameLabels = []));
    for (const known of sameLabels) {
      const isSame = known.namespace === namespace && known.deleting === deleting && known.affinity === podAffinity;
      if (isSame) return known;
    }
    const created = new PlacedClass(namespace, labels, podAffinity, deleting);
    sameLabels.push(created);
    const inNamespace = this.#byNamespace.get(namespace);
    if (inNamespace === undefined) this.#byNamespace.set(namespace, new Set([created]));
    else inNamespace.add(created);
    if (podAffinity !== undefined) this.#withTerms.add(created);
    return created;
  }

  #drop(podClass: PlacedClass): void {
    const sameLabels = this.#byLabels.get(podClass.labels)!;
    if (sameLabels.length === 1) this.#byLabels.delete(podClass.labels);
    else sameLabels.splice(sameLabels.indexOf(podClass), 1);
    const inNamespace = this.#byNamespace.get(podClass.namespace)!;
    inNamespace.delete(podClass);
    if (inNamespace.size === 0) this.#byNamespace.delete(podClass.namespace);
    this.#withTerms.delete(podClass);
  }
}

class PlacedClass implements PodClass {
  readonly namespace: string;
  readonly labels: Labels;
  readonly affinity: PodAffinityRules | undefined;
  readonly deleting: boolean;
  // A class with a single pod, which is common, needs no map.
  #only: NodeInfo | undefined;
  #onlyCount = 0;
  /** node -> number of pods; used from the second node on */
  #counts: Map<NodeInfo, number> | undefined;

  constructor(namespace: string, labels: Labels, affinity: PodAffinityRules | undefined, deleting: boolean) {
    this.namespace = namespace;
    this.labels = labels;
    this.affinity = affinity;
    this.deleting = deleting;
  }

  /** Number of nodes with pods of the class. */
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
