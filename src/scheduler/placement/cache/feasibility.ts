import type { Pod } from '../../../api/pod.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import { unschedulablePluginsOf } from '../../../framework/diagnosis.ts';
import type { Diagnosis } from '../../../framework/diagnosis.ts';
import { filtersFor, notPreselected } from '../../../framework/profile.ts';
import type { FilterPlugin } from '../../../framework/profile.ts';
import type { Status } from '../../../framework/status.ts';
import type { PreFilteredPod, FeasibilityOptions } from './feasibility-options.ts';
import { notSentToExtenders } from './node-subset.ts';
import { isInBulk, NodeVerdicts } from './node-verdicts.ts';
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
    const { nodes, within, nodeSubset, known, buffers } = this.#options;
    this.#begin(target);
    buffers.take(this, nodes.length);
    if (this.#isInColumns) return (buffers.order.size = this.#findInColumns(buffers.order.indexes));
    const mayBeNarrowed =
      target.nodeNames !== undefined || nodeSubset !== undefined || this.#reserve.size > 0 || this.#others.length > 0;
    const { indexes } = buffers.order;
    const nodeCount = this.#nodeCount;
    let size = 0;
    for (let position = 0; position < nodeCount; position++) {
      const node = nodes[within === undefined ? position : within[position]!]!;
      if (!(known.fits(node) ?? this.#verdicts.rejection(node) === undefined)) continue;
      if (mayBeNarrowed && this.#rejectionByOthers(node) !== undefined) continue;
      indexes[size++] = node.index;
    }
    buffers.order.size = size;
    return size;
  }

  /**
   * Like `find`, for callers that need only the number. Returns undefined if nodes must be checked one by one, or a plugin
   * failed.
   */
  countAtOnce(target: PreFilteredPod): number | undefined {
    const { nodes, buffers } = this.#options;
    this.#begin(target);
    if (!this.#isInColumns) return undefined;
    buffers.take(this, nodes.length);
    const size = (buffers.order.size = this.#findInColumns(buffers.order.indexes));
    return this.error === undefined ? size : undefined;
  }

  /** Whether `find` can use columns: no node needs a plugin call of its own unless its cached result is outdated. */
  get #isInColumns(): boolean {
    const { within, nodeSubset, hasReservations } = this.#options;
    return (
      within === undefined &&
      nodeSubset === undefined &&
      this.#target.nodeNames === undefined &&
      this.#reserve.size === 0 &&
      this.#verdicts.isInBulk &&
      this.#others.every(isInBulk) &&
      !hasReservations()
    );
  }

  /** Like `find`, over columns of numbers. Several times as fast if most verdicts are cached. */
  #findInColumns(indexes: Int32Array): number {
    const size = this.#verdicts.listPassing(indexes);
    if (this.error !== undefined) return size;
    const left = this.#verdicts.keepPassing(this.#others, indexes, size);
    this.#dependsOnOthers ||= left < size;
    this.#isNarrowed ||= left < size;
    return left;
  }

  /**
   * Prepares for `counts` on the same nodes in this cluster generation. Called when `countAtOnce` returns undefined.
   */
  beginToCount(generation: number): void {
    this.#verdicts.forgetError();
    this.#options.known.begin(this.#options.nodes.length, generation);
  }

  /** Returns whether the pod fits on the node. Records the result of the node-local plugins. */
  counts(node: NodeInfo): boolean {
    const { known } = this.#options;
    const isRejected = this.#verdicts.rejection(node) !== undefined;
    // A failed plugin leaves no result to record.
    if (this.error === undefined) known.note(node, !isRejected);
    return !isRejected && this.#rejectionByOthers(node) === undefined;
  }

  #begin(target: PreFilteredPod): void {
    const { profile, spend } = this.#options;
    spend?.(this.#nodeCount);
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

  /**
   * Returns the rejection by Reserve, by PreFilter's node names, by extenders or by plugins that read other nodes. Never cached.
   */
  #rejectionByOthers(node: NodeInfo): Status | undefined {
    const { nodeSubset } = this.#options;
    let status = this.#reserve.get(node.index);
    if (status === undefined && this.#target.nodeNames?.has(node.name) === false) status = notPreselected;
    if (status === undefined && nodeSubset?.allowed.has(node.name) === false) {
      status = nodeSubset.rejected.get(node.name) ?? notSentToExtenders;
    }
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

  /** Returns why the pod finds no node, or no further node. */
  diagnose(pod: Pod): Diagnosis {
    const nodeCount = this.#nodeCount;
    /** status -> number of nodes; most nodes share one of a few constant statuses */
    const counts = new Map<Status, number>();
    for (let position = 0; position < nodeCount && this.error === undefined; position++) {
      const status = this.#statusOf(this.#indexAt(position));
      if (status !== undefined) counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    const { error } = this;
    if (error !== undefined) {
      return { pod, nodeCount, rejection: { kind: 'pod', status: error }, ...unschedulablePluginsOf(error) };
    }
    const reasons = new Map<string, number>();
    const plugins = new Set<string>();
    const pending = new Set<string>();
    let resolvable = false;
    for (const [status, count] of counts) {
      for (const reason of status.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + count);
      if (status.plugin !== '') plugins.add(status.plugin);
      if (status.code === 'Pending') pending.add(status.plugin);
      resolvable ||= status.code === 'Unschedulable';
    }
    return { pod, nodeCount, rejection: { kind: 'nodes', reasons, resolvable }, plugins, pending };
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
