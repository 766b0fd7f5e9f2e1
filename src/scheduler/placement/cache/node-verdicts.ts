import type { NodeInfo } from '../../../cluster/node-info.ts';
import { filtersFor } from '../../../framework/profile.ts';
import type { FilterPlugin } from '../../../framework/profile.ts';
import type { Status } from '../../../framework/status.ts';
import type { PreFilteredPod, FeasibilityOptions } from './feasibility-options.ts';
import { copyAt, fillAt, keepFlagged, listAll, listFlagged, listOutdated, listOutdatedOfAll } from './columns.ts';
import type { CachedShare } from './cached-results.ts';
import type { NodeTable } from './node-table.ts';
import { ReservedNodes } from './reserved-nodes.ts';

/** A cached share, applied to one pod. */
export interface ActiveShare {
  readonly share: CachedShare;
  readonly table: NodeTable;
  /** The filters that did not skip the pod. */
  readonly filters: readonly FilterPlugin[];
}

/** From this number of nodes on, filters check them in bulk. */
const manyNodes = 4;

/**
 * The verdicts of the node-local filters. Calls them only for nodes that changed since a pod with the same signature was
 * filtered. The first filter that fails sets `error`.
 */
export class NodeVerdicts {
  readonly #options: FeasibilityOptions;
  readonly #reserved: ReservedNodes;
  #target: PreFilteredPod;
  #active: readonly ActiveShare[] = [];
  /** Filters without cached verdicts. */
  #uncached: readonly FilterPlugin[] = [];
  #error: Status | undefined;

  constructor(options: FeasibilityOptions, target: PreFilteredPod) {
    this.#options = options;
    this.#reserved = new ReservedNodes(options, target);
    this.#target = target;
  }

  get error(): Status | undefined {
    return this.#error;
  }

  get active(): readonly ActiveShare[] {
    return this.#active;
  }

  begin(target: PreFilteredPod): void {
    const { nodes, split } = this.#options;
    const { state } = target;
    this.#target = target;
    this.#reserved.begin(target);
    this.#error = undefined;
    this.#uncached = filtersFor(state, split.uncached.filters);
    this.#active = split.cached.map((share) => {
      const table = share.table();
      table.reserve(nodes.length);
      return { share, table, filters: filtersFor(state, share.filters) };
    });
  }

  rejection(node: NodeInfo): Status | undefined {
    const { index, generation } = node;
    const active = this.#active;
    for (let i = 0; i < active.length; i++) {
      const { table, filters } = active[i]!;
      if (table.filtered[index] !== generation) this.#note(table, node, this.#filter(filters, node));
      if (table.fits[index] === 0) return table.statuses[index];
    }
    const status = this.#uncached.length === 0 ? undefined : this.#filter(this.#uncached, node);
    return this.#recordFailure(status ?? this.#reserved.rejection(node));
  }

  /** Like `rejection`. If several filters reject the node, returns the rejection of the first one in the profile. */
  firstRejection(node: NodeInfo): Status | undefined {
    const status = this.rejection(node);
    if (status === undefined || this.#active.length + Math.min(1, this.#uncached.length) < 2) return status;
    // With several shares, a filter earlier in the profile may reject the node too.
    const { localFilters } = this.#options.profile;
    const position = localFilters.findIndex(({ name }) => name === status.plugin);
    return this.#filter(filtersFor(this.#target.state, localFilters.slice(0, position)), node) ?? status;
  }

  /** Lists the nodes that pass all node-local filters. Returns how many; after a failure the result is meaningless. */
  listPassing(indexes: Int32Array): number {
    const { nodes, within, generations, buffers } = this.#options;
    const { outdated } = buffers;
    const now = generations();
    const [first] = this.#active;
    let size = within?.length ?? nodes.length;
    if (within !== undefined) indexes.set(within);
    else if (first === undefined) listAll(indexes, size);
    for (const active of this.#active) {
      const { table, filters } = active;
      const { filtered, fits } = table;
      // Saves a known signature one pass over all nodes, a tenth of a single pod's attempt.
      const isAll = within === undefined && active === first;
      const count = isAll
        ? listOutdatedOfAll(outdated, size, filtered, now)
        : listOutdated(outdated, indexes, size, filtered, now);
      if (count >= manyNodes) this.#filterMany(active, outdated, count);
      else {
        for (let i = 0; i < count; i++) {
          const node = nodes[outdated[i]!]!;
          this.#note(table, node, this.#filter(filters, node));
        }
      }
      size = isAll ? listFlagged(indexes, size, fits) : keepFlagged(indexes, size, fits);
    }
    size = this.#keepWithoutOwners(this.#uncached, indexes, size);
    return this.#reserved.keep(indexes, size, this.#isRejected, this.#recordFailure);
  }

  /** Runs these filters and moves the nodes that pass to the front. Returns how many. Caches nothing. */
  keep(filters: readonly FilterPlugin[], indexes: Int32Array, size: number): number {
    if (filters.length === 0) return size;
    const left = this.#keepWithoutOwners(filters, indexes, size);
    return this.#reserved.keepUncached(filters, indexes, left, this.#recordFailure);
  }

  /** Like `keep`, but without regard to reservations. */
  #keepWithoutOwners(filters: readonly FilterPlugin[], indexes: Int32Array, size: number): number {
    if (filters.length === 0 || size === 0 || this.#error !== undefined) return size;
    if (filters.every(isInBulk)) {
      const { state, pod } = this.#target;
      const left = this.#options.profile.keepPassing(filters, state, pod, indexes, size);
      if (typeof left === 'number') return left;
      this.#recordFailure(left);
      return 0;
    }
    const { nodes } = this.#options;
    let left = 0;
    for (let i = 0; i < size; i++) {
      const index = indexes[i]!;
      if (this.#recordFailure(this.#filter(filters, nodes[index]!)) === undefined) indexes[left++] = index;
    }
    return left;
  }

  /** Runs these filters on the node, with and without the owners of reservations. Caches nothing. */
  filterUncached(filters: readonly FilterPlugin[], node: NodeInfo): Status | undefined {
    return this.#recordFailure(this.#filter(filters, node) ?? this.#reserved.filterUncached(filters, node));
  }

  /**
   * Checks these nodes and caches the verdicts. Each filter sees only nodes that passed the filters
   * before it, because it may rely on their checks.
   */
  #filterMany(active: ActiveShare, indexes: Int32Array, count: number): void {
    const { profile, nodes, generations, buffers } = this.#options;
    const { state, pod } = this.#target;
    const { table, filters } = active;
    const { passing, passed } = buffers;
    table.forgetFiltered(indexes, count);
    fillAt(table.fits, indexes, count, 0);
    fillAt(passed, indexes, count, 0);
    for (let i = 0; i < count; i++) passing[i] = indexes[i]!;
    let left = count;
    for (const [i, filter] of filters.entries()) {
      const result = isInBulk(filter)
        ? profile.keepPassing([filter], state, pod, passing, left)
        : this.#keepPassing(table, filter, left);
      if (typeof result !== 'number') {
        this.#recordFailure(result);
        return;
      }
      left = result;
      fillAt(passed, passing, left, i + 1);
    }
    const now = generations();
    fillAt(table.fits, passing, left, 1);
    copyAt(table.filtered, passing, left, now);
    // Get the reason from the filter that dropped the node.
    const onwards = filters.map((_, i) => filters.slice(i));
    for (let i = 0; i < count; i++) {
      const index = indexes[i]!;
      if (table.filtered[index] === now[index]) continue;
      this.#note(table, nodes[index]!, this.#filter(onwards[passed[index]!]!, nodes[index]!));
    }
  }

  /**
   * Runs the filter on the first `size` nodes of `passing`, one by one, and records rejections. Returns how many pass, or the
   * failure.
   */
  #keepPassing(table: NodeTable, filter: FilterPlugin, size: number): number | Status {
    const { nodes, buffers } = this.#options;
    const { passing } = buffers;
    const filters = [filter];
    let left = 0;
    for (let i = 0; i < size; i++) {
      const node = nodes[passing[i]!]!;
      const status = this.#filter(filters, node);
      if (status === undefined) passing[left++] = node.index;
      else if (status.code === 'Error') return status;
      else this.#note(table, node, status);
    }
    return left;
  }

  /** Returns whether the verdicts that `listPassing` brought up to date reject the node. */
  readonly #isRejected = (index: number): boolean => {
    for (let i = 0; i < this.#active.length; i++) if (this.#active[i]!.table.fits[index] === 0) return true;
    return false;
  };

  readonly #recordFailure = (status: Status | undefined): Status | undefined => {
    if (status?.code === 'Error') this.#error ??= status;
    return status;
  };

  #note(table: NodeTable, node: NodeInfo, status: Status | undefined): void {
    table.setStatus(node.index, status);
    if (this.#recordFailure(status)?.code !== 'Error') table.markFiltered(node);
  }

  #filter(filters: readonly FilterPlugin[], node: NodeInfo): Status | undefined {
    const { state, pod } = this.#target;
    return this.#options.profile.filterAll(filters, state, pod, node);
  }
}

/** Returns whether the filter checks many nodes in one call. */
function isInBulk({ plugin }: FilterPlugin): boolean {
  return plugin.filterAll !== undefined;
}
