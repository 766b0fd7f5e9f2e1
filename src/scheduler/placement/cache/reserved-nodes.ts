import type { Pod } from '../../../api/pod.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { ReservedNode } from '../../../cluster/node-reservations.ts';
import type { CycleState } from '../../../framework/cycle-state.ts';
import type { FilterPlugin } from '../../../framework/profile.ts';
import type { Status } from '../../../framework/status.ts';
import type { PreFilteredPod, FeasibilityOptions } from './feasibility-options.ts';
import { filterWithOwners, ownersOn } from './filter-with-reservations.ts';
import type { OwnerVerdicts } from './owner-verdicts.ts';

/** Why a node rejects the pod if these owners run there; undefined: it does not. */
type OwnerFilter = (node: NodeInfo, owners: readonly Pod[]) => Status | undefined;

/** Marks a node that is known to reject the pod. Other marked nodes have their position in a list, plus one. */
const rejected = -1;

/**
 * Runs Filter on nodes as if the owners of their reservations ran there. Goes through the reserved nodes only, so that they cost all other
 * nodes nothing. Calls node-local filters only if the node or its owners changed since a pod with the same signature was filtered.
 */
export class ReservedNodes {
  readonly #options: FeasibilityOptions;
  #target: PreFilteredPod;
  /** The nodes whose reservations the pod must respect. */
  #reserved: readonly ReservedNode[] = [];
  #verdicts: OwnerVerdicts | undefined;
  /** Those with owners that filters may notice that read other nodes; computed for `#dependentOf`. */
  #dependent: readonly ReservedNode[] = [];
  #dependentOf: { readonly reserved: readonly ReservedNode[]; readonly state: CycleState } | undefined;

  constructor(options: FeasibilityOptions, target: PreFilteredPod) {
    this.#options = options;
    this.#target = target;
  }

  begin(target: PreFilteredPod): void {
    const { reservedFor, split } = this.#options;
    this.#target = target;
    this.#reserved = reservedFor(target.pod);
    if (this.#reserved.length === 0) return;
    this.#verdicts = split.ownerVerdicts?.();
    this.#verdicts?.forgetOthers(this.#reserved.length);
  }

  /** Returns why the node-local filters reject the node because of reservations, given that they accept it otherwise. */
  rejection(node: NodeInfo): Status | undefined {
    return this.#rejectionBy(node, this.#ownersOn(node));
  }

  /** Like `rejection`, for these filters. Caches nothing. */
  filterUncached(filters: readonly FilterPlugin[], node: NodeInfo): Status | undefined {
    return this.#filter(filters, node, this.#ownersOn(node));
  }

  /**
   * Moves the listed nodes that `rejection` does not reject to the front. Returns how many. `isRejected`: returns true only if a node, by
   * index, is not listed. `recordFailure` gets the rejections.
   */
  keep(
    indexes: Int32Array,
    size: number,
    isRejected: (index: number) => boolean,
    recordFailure: (status: Status) => void,
  ): number {
    const reserved = this.#reserved;
    let count = 0;
    for (let i = 0; i < reserved.length; i++) {
      const { node, owners } = reserved[i]!;
      const verdict = this.#verdicts?.on(node, owners);
      if (verdict === undefined) {
        if (!isRejected(node.index)) count += this.#mark(node, i + 1);
      } else if (verdict.status !== undefined) count += this.#mark(node, rejected);
    }
    if (count === 0) return size;
    const rejection: OwnerFilter = (node, owners) => this.#rejectionBy(node, owners);
    return this.#keepMarked(reserved, rejection, indexes, size, recordFailure);
  }

  /** Like `keep`, for these filters, which read other nodes. Caches nothing. */
  keepUncached(
    filters: readonly FilterPlugin[],
    indexes: Int32Array,
    size: number,
    recordFailure: (status: Status) => void,
  ): number {
    const dependent = this.#dependentOn(filters);
    let count = 0;
    for (let i = 0; i < dependent.length; i++) count += this.#mark(dependent[i]!.node, i + 1);
    if (count === 0) return size;
    const filter: OwnerFilter = (node, owners) => this.#filter(filters, node, owners);
    return this.#keepMarked(dependent, filter, indexes, size, recordFailure);
  }

  /** Returns 0 for an unknown node. */
  #mark({ index }: NodeInfo, mark: number): number {
    if (index < 0) return 0;
    this.#options.buffers.marks[index] = mark;
    return 1;
  }

  /** Checks the listed nodes that are marked, and drops those that are rejected. Removes all marks. */
  #keepMarked(
    reserved: readonly ReservedNode[],
    rejection: OwnerFilter,
    indexes: Int32Array,
    size: number,
    recordFailure: (status: Status) => void,
  ): number {
    const { marks } = this.#options.buffers;
    let left = 0;
    for (let i = 0; i < size; i++) {
      const index = indexes[i]!;
      const mark = marks[index]!;
      if (mark === rejected) continue;
      if (mark > 0) {
        const { node, owners } = reserved[mark - 1]!;
        const status = rejection(node, owners);
        if (status !== undefined) {
          recordFailure(status);
          continue;
        }
      }
      indexes[left++] = index;
    }
    for (let i = 0; i < reserved.length; i++) {
      const { index } = reserved[i]!.node;
      if (index >= 0) marks[index] = 0;
    }
    return left;
  }

  #dependentOn(filters: readonly FilterPlugin[]): readonly ReservedNode[] {
    const reserved = this.#reserved;
    const { state, pod } = this.#target;
    if (this.#dependentOf?.reserved === reserved && this.#dependentOf.state === state) return this.#dependent;
    const { profile } = this.#options;
    this.#dependentOf = { reserved, state };
    this.#dependent = reserved.filter(({ owners }) =>
      owners.some((owner) => profile.dependOnPod(filters, state, pod, owner)),
    );
    return this.#dependent;
  }

  #ownersOn(node: NodeInfo): readonly Pod[] {
    return ownersOn(node, this.#target.pod, this.#options.hasNoReservation);
  }

  #rejectionBy(node: NodeInfo, owners: readonly Pod[]): Status | undefined {
    if (owners.length === 0) return undefined;
    const verdict = this.#verdicts?.on(node, owners);
    if (verdict !== undefined) return verdict.status;
    const status = this.#filter(this.#options.profile.localFilters, node, owners);
    if (status?.code !== 'Error') this.#verdicts?.set(node, owners, status);
    return status;
  }

  #filter(filters: readonly FilterPlugin[], node: NodeInfo, owners: readonly Pod[]): Status | undefined {
    const { state, pod } = this.#target;
    return filterWithOwners(this.#options.profile, filters, state, pod, node, owners);
  }
}
