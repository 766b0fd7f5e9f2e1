import type { Pod } from '../../../api/pod.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import { unschedulablePluginsOf } from '../../../framework/diagnosis.ts';
import type { Diagnosis } from '../../../framework/diagnosis.ts';
import { filtersFor, notPreselected } from '../../../framework/profile.ts';
import type { FilterPlugin } from '../../../framework/profile.ts';
import type { Status } from '../../../framework/status.ts';
import type { CapacityOnly } from './capacity-only.ts';
import type { PreFilteredPod, FeasibilityOptions } from './feasibility-options.ts';
import { notSentToExtenders } from './node-subset.ts';
import { NodeVerdicts } from './node-verdicts.ts';
import type { ActiveShare } from './node-verdicts.ts';

/**
 * The nodes that a pod fits on, and why it does not fit on the others. Checks only nodes that changed since an identical pod was
 * checked.
 */
export class Feasibility {
  readonly #options: FeasibilityOptions;
  #target: PreFilteredPod;
  readonly #verdicts: NodeVerdicts;
  #others: readonly FilterPlugin[] = [];
  #dependsOnOthers = false;
  /** Something other than the node-local plugins rejected a node. */
  #isNarrowed = false;
  /** node index -> rejection by Reserve, valid as long as this object is used */
  readonly #reserve = new Map<number, Status>();

  constructor(options: FeasibilityOptions, target: PreFilteredPod) {
    this.#options = options;
    this.#target = target;
    this.#verdicts = new NodeVerdicts(options, target);
  }

  /** The first plugin failure; no result is valid then. */
  get error(): Status | undefined {
    return this.#verdicts.error;
  }

  /** A rejection may change when other pods are placed. */
  get dependsOnOthers(): boolean {
    return this.#dependsOnOthers;
  }

  get isRejectedByReserve(): boolean {
    return this.#reserve.size > 0;
  }

  /** The shares with cached results; their tables also cache scores. */
  get cached(): readonly ActiveShare[] {
    return this.#verdicts.active;
  }

  /**
   * Lists the feasible nodes in `buffers.order` and returns how many. The list is valid until another owner takes the buffers.
   */
  find(target: PreFilteredPod): number {
    const { nodes, nodeSubset, buffers } = this.#options;
    this.#begin(target, this.#nodeCount);
    buffers.take(this, nodes.length);
    const { indexes } = buffers.order;
    const passing = this.#verdicts.listPassing(indexes);
    let left = passing;
    if (target.nodeNames !== undefined || nodeSubset !== undefined || this.#reserve.size > 0) {
      left = 0;
      for (let i = 0; i < passing; i++) {
        if (this.#exclusion(nodes[indexes[i]!]!) === undefined) indexes[left++] = indexes[i]!;
      }
    }
    const size = this.#verdicts.keep(this.#others, indexes, left);
    this.#dependsOnOthers ||= size < left;
    this.#isNarrowed ||= size < passing;
    return (buffers.order.size = size);
  }

  /** Returns why one node rejects the pod; undefined: it does not. */
  rejectionOn(node: NodeInfo, target: PreFilteredPod): Status | undefined {
    this.#begin(target, 1);
    return this.#verdicts.rejection(node) ?? this.#rejectionByOthers(node);
  }

  #begin(target: PreFilteredPod, nodeCount: number): void {
    const { profile, spend } = this.#options;
    spend?.(nodeCount);
    this.#target = target;
    this.#dependsOnOthers = false;
    this.#isNarrowed = this.#reserve.size > 0;
    this.#others = filtersFor(target.state, profile.otherFilters);
    this.#verdicts.begin(target);
  }

  /** Returns whether a node that fitted still fits after a change. */
  stillFits(node: NodeInfo): boolean {
    return this.#verdicts.rejection(node) === undefined;
  }

  /** Returns the rejection by Reserve, by PreFilter's node names or by extenders. */
  #exclusion({ index, name }: NodeInfo): Status | undefined {
    const { nodeSubset } = this.#options;
    const status = this.#reserve.get(index);
    if (status !== undefined) return status;
    if (this.#target.nodeNames?.has(name) === false) return notPreselected;
    return nodeSubset?.allowed.has(name) === false ? (nodeSubset.rejected.get(name) ?? notSentToExtenders) : undefined;
  }

  /** Returns the rejection that comes not from node-local plugins. Never cached. */
  #rejectionByOthers(node: NodeInfo): Status | undefined {
    let status = this.#exclusion(node);
    if (status === undefined && this.#others.length > 0) {
      status = this.#verdicts.filterUncached(this.#others, node);
      this.#dependsOnOthers ||= status !== undefined;
    }
    this.#isNarrowed ||= status !== undefined;
    return status;
  }

  /** Records that Reserve rejected the node. The rejection lasts as long as this object is used. */
  reject(node: NodeInfo, status: Status): void {
    this.#reserve.set(node.index, status);
    this.#isNarrowed = true;
  }

  /**
   * Whether every node rejects the pod for reasons that do not involve other pods. Then neither evicting pods nor placing more
   * can help.
   */
  get isRejectedForGood(): boolean {
    if (this.error !== undefined || this.#isNarrowed) return false;
    for (let position = 0; position < this.#nodeCount; position++) {
      if (this.#statusOf(this.#indexAt(position))?.code !== 'UnschedulableAndUnresolvable') return false;
    }
    return true;
  }

  /** Returns why the pod finds no node, or no further node. Adds the nodes to `capacityOnly`. */
  diagnose(pod: Pod, capacityOnly?: CapacityOnly): Diagnosis {
    const nodeCount = this.#nodeCount;
    /** status -> number of nodes; most nodes share one of a few constant statuses */
    const counts = new Map<Status, number>();
    for (let position = 0; position < nodeCount && this.error === undefined; position++) {
      const index = this.#indexAt(position);
      const status = this.#statusOf(index);
      if (status === undefined) continue;
      counts.set(status, (counts.get(status) ?? 0) + 1);
      capacityOnly?.add(index, status);
    }
    const { error } = this;
    if (error !== undefined) {
      return { pod, nodeCount, rejection: { kind: 'pod', status: error }, ...unschedulablePluginsOf(error) };
    }
    const plugins = new Set<string>();
    const pending = new Set<string>();
    let resolvable = false;
    const rejections = [...counts].map(([status, count]) => ({ status, nodes: count }));
    for (const status of counts.keys()) {
      if (status.plugin !== '') plugins.add(status.plugin);
      if (status.code === 'Pending') pending.add(status.plugin);
      resolvable ||= status.code === 'Unschedulable';
    }
    return { pod, nodeCount, rejection: { kind: 'nodes', rejections, resolvable }, plugins, pending };
  }

  get #nodeCount(): number {
    const { within, nodes } = this.#options;
    return within === undefined ? nodes.length : within.length;
  }

  /** Returns the index of the node to check at this position. */
  #indexAt(position: number): number {
    const { within } = this.#options;
    return within === undefined ? position : within[position]!;
  }

  #statusOf(index: number): Status | undefined {
    const node = this.#options.nodes[index]!;
    return this.#verdicts.firstRejection(node) ?? this.#rejectionByOthers(node);
  }
}
