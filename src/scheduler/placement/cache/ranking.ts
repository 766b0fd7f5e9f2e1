import type { Pod } from '../../../api/pod.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { Diagnosis } from '../../../framework/diagnosis.ts';
import type { Status } from '../../../framework/status.ts';
import type { CapacityOnly } from './capacity-only.ts';
import type { PreFilteredPod, FeasibilityOptions } from './feasibility-options.ts';
import { Feasibility } from './feasibility.ts';
import { NodeScores } from './node-scores.ts';

/**
 * The feasible nodes for identical pods, best first. Building the ranking costs one pass over the nodes, which filters and scores
 * only nodes that changed since an identical pod was ranked. Each further identical pod costs one step, because a placement
 * changes a single node.
 */
export class Ranking {
  readonly #options: FeasibilityOptions;
  readonly #feasibility: Feasibility;
  readonly #scores: NodeScores;
  readonly #salt: number;
  #target: PreFilteredPod;
  #isBuilt = false;
  #readsOthers = true;
  /** Failure of PreScore or Reserve. */
  #error: Status | undefined;

  /** Checks no node yet. `salt`: rankings with the same salt order nodes with equal scores in the same way. */
  constructor(options: FeasibilityOptions & { readonly salt: number }, target: PreFilteredPod) {
    this.#options = options;
    this.#salt = options.salt;
    this.#target = target;
    this.#feasibility = new Feasibility(options, target);
    this.#scores = new NodeScores(options, this.#feasibility, target);
  }

  /**
   * Returns how many nodes the pod fits on, before any placement. Scores nothing. If a plugin fails, returns the number of all
   * nodes, so that the failure does not move the pod to the front.
   */
  count(): number {
    const { nodes, buffers } = this.#options;
    buffers.order.begin(nodes, this.#salt, this.#target.pod);
    const size = this.#feasibility.find(this.#target);
    return this.#feasibility.error === undefined ? size : nodes.length;
  }

  /** Returns the indexes of the nodes that the pod fits on, before any placement. Valid until another ranking is used. */
  feasibleIndexes(): Int32Array {
    const size = this.count();
    return this.#options.buffers.order.indexes.subarray(0, size);
  }

  /** Returns why the node as it is now rejects a pod that the node-local plugins cannot tell apart from the ranking's. An earlier build becomes invalid. */
  rejectionOn(node: NodeInfo, target: PreFilteredPod): Status | undefined {
    this.#target = target;
    this.#isBuilt = false;
    return this.#feasibility.rejectionOn(node, target);
  }

  /** Filters the nodes as they are now, for `diagnose`. An earlier build becomes invalid. */
  look(): void {
    this.#isBuilt = false;
    this.#findFeasible();
  }

  /** Number of nodes left to choose from, after `build`. */
  get size(): number {
    return this.#options.buffers.order.size;
  }

  /** The first plugin failure. The caller must then place no pod with this ranking. */
  get error(): Status | undefined {
    return this.#scoringError ?? this.#feasibility.error;
  }

  get #scoringError(): Status | undefined {
    return this.#error ?? this.#scores.error;
  }

  /** Returns the node to use; undefined if no node fits. */
  best(): NodeInfo | undefined {
    return this.error !== undefined ? undefined : this.#options.nodes[this.#options.buffers.order.best()];
  }

  /** A rejection may change when the scheduler places other pods. */
  get dependsOnOthers(): boolean {
    return this.#feasibility.dependsOnOthers;
  }

  /** A rejection may be due to placed pods: a plugin reads other nodes, or its Reserve keeps state of its own. */
  get dependsOnAssignedPods(): boolean {
    return this.#readsOthers || this.#feasibility.isRejectedByReserve;
  }

  /** A plugin that did not skip the pod reads other nodes, so every placement makes the ranking outdated. */
  get readsOthers(): boolean {
    return this.#readsOthers;
  }

  /** Like `Feasibility.isRejectedForGood`, for the latest result. */
  get isRejectedForGood(): boolean {
    return this.#scoringError === undefined && this.#feasibility.isRejectedForGood;
  }

  /** Returns whether PreFilter left the same nodes to choose from. `nodeNames` undefined: all nodes. */
  isAmong(nodeNames: ReadonlySet<string> | undefined): boolean {
    return sameNames(nodeNames, this.#target.nodeNames);
  }

  /**
   * Returns whether this up-to-date ranking is also valid for another pod that the node-local plugins cannot tell apart. `state`
   * and `nodeNames` are that pod's PreFilter result.
   */
  serves({ pod, state, nodeNames }: PreFilteredPod): boolean {
    if (!this.#isBuilt || !this.isAmong(nodeNames)) return false;
    if (pod === this.#target.pod) return true;
    if (this.#readsOthers) return false;
    const { profile } = this.#options;
    const failure = profile.scoring.preScoreOthers(state, pod, () => this.#feasible());
    return failure === undefined && !profile.readsOthers(state, pod);
  }

  /**
   * Removes the best node permanently, because Reserve rejected it. An Error invalidates the ranking until the next `build`.
   */
  rejectBest(status: Status): void {
    if (status.code === 'Error') {
      this.#error ??= status;
      return;
    }
    const { nodes, buffers } = this.#options;
    this.#feasibility.reject(nodes[buffers.order.best()]!, status);
    buffers.order.removeBest();
  }

  /**
   * Checks the best node again after an identical pod was assumed there. Does nothing if plugins read other nodes: the caller
   * must then call `build` for the next pod.
   */
  placedOnBest(): void {
    if (this.#readsOthers) return;
    const { nodes, buffers } = this.#options;
    const node = nodes[buffers.order.best()]!;
    const isFeasible = this.#feasibility.stillFits(node);
    if (!this.#scores.replace(node, isFeasible)) this.build(this.#target);
    else if (isFeasible) buffers.order.bestChanged();
    else buffers.order.removeBest();
  }

  /**
   * Filters and scores the nodes as they are now, for the ranking's pod or for another that the node-local plugins cannot tell
   * apart.
   */
  build(target: PreFilteredPod): void {
    this.#target = target;
    this.#isBuilt = true;
    this.#readsOthers = true;
    const { profile } = this.#options;
    const size = this.#findFeasible();
    if (this.error !== undefined) return;
    if (size === 0) {
      this.#readsOthers = profile.filtersByOthers(target.state, target.pod);
      return;
    }
    this.#error = profile.scoring.preScore(target.state, target.pod, () => this.#feasible());
    if (this.#error !== undefined) return;
    this.#readsOthers = profile.readsOthers(target.state, target.pod);
    const startedAt = profile.begin();
    this.#scores.score(this.#readsOthers);
    profile.ran('Score', this.#scores.error !== undefined ? 'Error' : 'Success', startedAt);
  }

  /** Returns why `pod`, one of the identical pods, finds no node, or no further node. Adds the nodes to `capacityOnly`. */
  diagnose(pod: Pod, capacityOnly?: CapacityOnly): Diagnosis {
    if (!this.#options.buffers.isOf(this.#feasibility)) this.build(this.#target);
    const diagnosis = this.#feasibility.diagnose(pod, capacityOnly);
    const error = this.#scoringError;
    if (error === undefined) return diagnosis;
    const plugins = new Set([...diagnosis.plugins, error.plugin].filter((name) => name !== ''));
    return { ...diagnosis, rejection: { kind: 'pod', status: error }, plugins };
  }

  #findFeasible(): number {
    const { profile, nodes, buffers } = this.#options;
    this.#error = undefined;
    this.#scores.begin(this.#target);
    buffers.order.begin(nodes, this.#salt, this.#target.pod);
    const startedAt = profile.begin();
    const size = this.#feasibility.find(this.#target);
    profile.ran('Filter', this.error !== undefined ? 'Error' : size === 0 ? 'Unschedulable' : 'Success', startedAt);
    return size;
  }

  #feasible(): readonly NodeInfo[] {
    const { nodes, buffers } = this.#options;
    const { indexes, size } = buffers.order;
    const feasible: NodeInfo[] = [];
    for (let i = 0; i < size; i++) feasible.push(nodes[indexes[i]!]!);
    return feasible;
  }
}

/** Returns whether two sets of node names are equal. Undefined: all nodes. */
export function sameNames(a: ReadonlySet<string> | undefined, b: ReadonlySet<string> | undefined): boolean {
  if (a === b) return true;
  if (a?.size !== b?.size) return false;
  for (const name of a!) if (!b!.has(name)) return false;
  return true;
}
