import type { Pod } from '../../../api/pod.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import { unschedulablePluginsOf } from '../../../framework/diagnosis.ts';
import type { Diagnosis } from '../../../framework/diagnosis.ts';
import { filtersFor, notPreselected } from '../../../framework/profile.ts';
import type { FilterPlugin } from '../../../framework/profile.ts';
import type { Status } from '../../../framework/status.ts';
import type { Asked, FeasibilityOptions } from './asked.ts';
import { notAsked } from './node-subset.ts';
import { isInBulk, NodeVerdicts } from './node-verdicts.ts';
import type { Working } from './node-verdicts.ts';

/** Which nodes a pod fits on, and why not on the others. Only nodes that changed since its like was asked about are looked at again. */
export class Feasibility {
  readonly #options: FeasibilityOptions;
  #asked: Asked;
  readonly #verdicts: NodeVerdicts;
  #others: readonly FilterPlugin[] = [];
  #dependsOnOthers = false;
  /** Some node was rejected by something else than the plugins that look at it alone. */
  #isNarrowed = false;
  /** node index -> rejection by Reserve; stands for as long as this */
  readonly #reserve = new Map<number, Status>();

  constructor(options: FeasibilityOptions, asked: Asked) {
    this.#options = options;
    this.#asked = asked;
    this.#verdicts = new NodeVerdicts(options, asked);
  }

  /** A plugin failed: nothing is known. */
  get error(): Status | undefined {
    return this.#verdicts.error;
  }

  /** Some node was rejected in a way that may change when other pods are placed. */
  get dependsOnOthers(): boolean {
    return this.#dependsOnOthers;
  }

  get isRejectedByReserve(): boolean {
    return this.#reserve.size > 0;
  }

  /** The kept answers, where scores are kept too. */
  get kept(): readonly Working[] {
    return this.#verdicts.working;
  }

  /** Lists the nodes that fit in the room's order; answers how many. They count as long as the room is not taken by another. */
  find(asked: Asked): number {
    const { nodes, within, nodeSubset, known, buffers } = this.#options;
    this.#begin(asked);
    buffers.take(this, nodes.length);
    if (this.#isInColumns) return (buffers.order.size = this.#findInColumns(buffers.order.indexes));
    const mayBeNarrowed =
      asked.nodeNames !== undefined || nodeSubset !== undefined || this.#reserve.size > 0 || this.#others.length > 0;
    const { indexes } = buffers.order;
    const nodeCount = this.#nodeCount;
    let size = 0;
    for (let place = 0; place < nodeCount; place++) {
      const node = nodes[within === undefined ? place : within[place]!]!;
      if (!(known.fits(node) ?? this.#verdicts.rejection(node) === undefined)) continue;
      if (mayBeNarrowed && this.#rejectionByOthers(node) !== undefined) continue;
      indexes[size++] = node.index;
    }
    buffers.order.size = size;
    return size;
  }

  /** `find` for who wants to know how many alone; undefined where nodes have to be looked at one by one, or a plugin failed. */
  countAtOnce(asked: Asked): number | undefined {
    const { nodes, buffers } = this.#options;
    this.#begin(asked);
    if (!this.#isInColumns) return undefined;
    buffers.take(this, nodes.length);
    const size = (buffers.order.size = this.#findInColumns(buffers.order.indexes));
    return this.error === undefined ? size : undefined;
  }

  /** Nothing is to be asked about single nodes but what the kept answers lack. */
  get #isInColumns(): boolean {
    const { within, nodeSubset, hasReservations } = this.#options;
    return (
      within === undefined &&
      nodeSubset === undefined &&
      this.#asked.nodeNames === undefined &&
      this.#reserve.size === 0 &&
      this.#verdicts.isInBulk &&
      this.#others.every(isInBulk) &&
      !hasReservations()
    );
  }

  /** As `find`, through columns of numbers: several times as fast where most verdicts are known. */
  #findInColumns(indexes: Int32Array): number {
    const size = this.#verdicts.listPassing(indexes);
    if (this.error !== undefined) return size;
    const left = this.#verdicts.keepPassing(this.#others, indexes, size);
    this.#dependsOnOthers ||= left < size;
    this.#isNarrowed ||= left < size;
    return left;
  }

  /** Where `countAtOnce` did not answer: before the same nodes are gone through by `counts`, in this generation of the cluster. */
  beginToCount(generation: number): void {
    this.#verdicts.forgetError();
    this.#options.known.begin(this.#options.nodes.length, generation);
  }

  /** Whether the pod fits on the node. What the plugins that look at it alone say is known from then on. */
  counts(node: NodeInfo): boolean {
    const { known } = this.#options;
    const isRejected = this.#verdicts.rejection(node) !== undefined;
    // Nothing is known where a plugin fails.
    if (this.error === undefined) known.note(node, !isRejected);
    return !isRejected && this.#rejectionByOthers(node) === undefined;
  }

  #begin(asked: Asked): void {
    const { profile, spend } = this.#options;
    spend?.(this.#nodeCount);
    this.#asked = asked;
    this.#dependsOnOthers = false;
    this.#isNarrowed = this.#reserve.size > 0;
    this.#others = filtersFor(asked.state, profile.otherFilters);
    this.#verdicts.begin(asked);
  }

  /** The node, one that fitted, has changed: does it still? */
  stillFits(node: NodeInfo): boolean {
    return this.#verdicts.rejection(node) === undefined;
  }

  /** By Reserve, PreFilter's choice of nodes, extenders, or those that read other nodes: never reused. */
  #rejectionByOthers(node: NodeInfo): Status | undefined {
    const { nodeSubset } = this.#options;
    let status = this.#reserve.get(node.index);
    if (status === undefined && this.#asked.nodeNames?.has(node.name) === false) status = notPreselected;
    if (status === undefined && nodeSubset?.allowed.has(node.name) === false) {
      status = nodeSubset.rejected.get(node.name) ?? notAsked;
    }
    if (status === undefined && this.#others.length > 0) {
      status = this.#verdicts.ask(this.#others, node);
      this.#dependsOnOthers ||= status !== undefined;
    }
    this.#isNarrowed ||= status !== undefined;
    return status;
  }

  /** Reserve rejects the node, for as long as this is used. */
  reject(node: NodeInfo, status: Status): void {
    this.#reserve.set(node.index, status);
    this.#isNarrowed = true;
  }

  /**
   * Whether every node rejects the pod in a way that has nothing to do with other pods: neither taking some away nor placing
   * more can help.
   */
  get isRejectedForGood(): boolean {
    if (this.error !== undefined || this.#isNarrowed) return false;
    for (let place = 0; place < this.#nodeCount; place++) {
      if (this.#statusOf(this.#indexAt(place))?.code !== 'UnschedulableAndUnresolvable') return false;
    }
    return true;
  }

  /** Why the pod finds no node (any more). */
  diagnose(pod: Pod): Diagnosis {
    const nodeCount = this.#nodeCount;
    /** Most nodes are rejected by one of a few constants. */
    const counts = new Map<Status, number>();
    for (let place = 0; place < nodeCount && this.error === undefined; place++) {
      const status = this.#statusOf(this.#indexAt(place));
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

  /** Index of the node that is looked at in this place. */
  #indexAt(place: number): number {
    const { within } = this.#options;
    return within === undefined ? place : within[place]!;
  }

  #statusOf(index: number): Status | undefined {
    const node = this.#options.nodes[index]!;
    return this.#verdicts.firstRejection(node) ?? this.#rejectionByOthers(node);
  }
}
