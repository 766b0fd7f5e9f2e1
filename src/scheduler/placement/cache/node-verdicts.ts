import type { NodeInfo } from '../../../cluster/node-info.ts';
import { filtersFor } from '../../../framework/profile.ts';
import type { FilterPlugin } from '../../../framework/profile.ts';
import type { Status } from '../../../framework/status.ts';
import type { Asked, FeasibilityOptions } from './asked.ts';
import { copyAt, fillAt, keepFlagged, listFlagged, listOutdated, listOutdatedOfAll } from './columns.ts';
import { filterWithReservations } from './filter-with-reservations.ts';
import type { CachedShare } from './cached-results.ts';
import type { NodeTable } from './node-table.ts';

/** A share of the plugins at work on one pod. */
export interface Working {
  readonly share: CachedShare;
  readonly table: NodeTable;
  /** Those that did not skip the pod. */
  readonly filters: readonly FilterPlugin[];
}

/** From this number of nodes on, filters are asked about all of them at once. */
const manyNodes = 4;

/**
 * The verdicts of the filters that look at one node alone. They are asked only about nodes that changed since a pod with the same signature was
 * filtered. The first filter that fails leaves an `error`.
 */
export class NodeVerdicts {
  readonly #options: FeasibilityOptions;
  #asked: Asked;
  #working: readonly Working[] = [];
  /** Filters whose verdicts are not kept. */
  #anew: readonly FilterPlugin[] = [];
  #error: Status | undefined;

  constructor(options: FeasibilityOptions, asked: Asked) {
    this.#options = options;
    this.#asked = asked;
  }

  get error(): Status | undefined {
    return this.#error;
  }

  get working(): readonly Working[] {
    return this.#working;
  }

  begin(asked: Asked): void {
    const { nodes, answering } = this.#options;
    const { state } = asked;
    this.#asked = asked;
    this.#error = undefined;
    this.#anew = filtersFor(state, answering.anew.filters);
    this.#working = answering.kept.map((share) => {
      const table = share.table();
      table.reserve(nodes.length);
      return { share, table, filters: filtersFor(state, share.filters) };
    });
  }

  forgetError(): void {
    this.#error = undefined;
  }

  /** Single nodes are asked about only where a kept verdict is missing. */
  get isInBulk(): boolean {
    return this.#anew.every(isInBulk);
  }

  rejection(node: NodeInfo): Status | undefined {
    const { index, generation } = node;
    const working = this.#working;
    for (let i = 0; i < working.length; i++) {
      const { table, filters } = working[i]!;
      if (table.filtered[index] !== generation) this.#note(table, node, this.#filter(filters, node));
      if (table.fits[index] === 0) return table.statuses[index];
    }
    return this.#anew.length === 0 ? undefined : this.ask(this.#anew, node);
  }

  /** As `refusal`; where several filters reject the node, the one that is first in the profile. */
  firstRejection(node: NodeInfo): Status | undefined {
    const status = this.rejection(node);
    if (status === undefined || this.#working.length + Math.min(1, this.#anew.length) < 2) return status;
    // Where several share the work, one that comes before in the profile may reject the node too; beside claims each is asked twice.
    const { profile } = this.#options;
    const place = profile.localFilters.findIndex(({ name }) => name === status.plugin);
    const earlier = node.reservations.size > 0 ? profile.localFilters : profile.localFilters.slice(0, place);
    return this.#filter(filtersFor(this.#asked.state, earlier), node) ?? status;
  }

  /** Lists all nodes that pass. No node may have claims, and `isInBulk` must hold. After a failure the list means nothing. */
  listPassing(indexes: Int32Array): number {
    const { nodes, generations, buffers } = this.#options;
    const now = generations();
    let size = nodes.length;
    for (const [i, working] of this.#working.entries()) {
      const { table, filters } = working;
      const { filtered, fits } = table;
      const isFirst = i === 0;
      const count = isFirst
        ? listOutdatedOfAll(buffers.outdated, size, filtered, now)
        : listOutdated(buffers.outdated, indexes, size, filtered, now);
      if (count >= manyNodes) this.#askMany(working, buffers.outdated, count);
      else {
        for (let j = 0; j < count; j++) {
          const node = nodes[buffers.outdated[j]!]!;
          this.#note(table, node, this.#filter(filters, node));
        }
      }
      size = isFirst ? listFlagged(indexes, size, fits) : keepFlagged(indexes, size, fits);
    }
    if (this.#working.length === 0) for (let index = 0; index < size; index++) indexes[index] = index;
    return this.#error !== undefined ? size : this.keepPassing(this.#anew, indexes, size);
  }

  /** Asks filters that take many nodes at once. Returns how many nodes are left at the beginning; a failure leaves none. */
  keepPassing(filters: readonly FilterPlugin[], indexes: Int32Array, size: number): number {
    if (size === 0) return 0;
    const { state, pod } = this.#asked;
    const left = this.#options.profile.keepPassing(filters, state, pod, indexes, size);
    if (typeof left === 'number') return left;
    this.#failing(left);
    return 0;
  }

  /** Asks these filters about the node; what they say is not kept. */
  ask(filters: readonly FilterPlugin[], node: NodeInfo): Status | undefined {
    return this.#failing(this.#filter(filters, node));
  }

  /**
   * Asks about these nodes, which have no claims, and keeps the verdicts. Each filter is asked only about nodes that the filters before
   * it let pass, because it may rely on what they check.
   */
  #askMany(working: Working, indexes: Int32Array, count: number): void {
    const { profile, nodes, generations, buffers } = this.#options;
    const { state, pod } = this.#asked;
    const { table, filters } = working;
    const { passing, passed } = buffers;
    table.forgetFiltered(indexes, count);
    fillAt(table.fits, indexes, count, 0);
    fillAt(passed, indexes, count, 0);
    for (let i = 0; i < count; i++) passing[i] = indexes[i]!;
    let left = count;
    for (const [i, filter] of filters.entries()) {
      const kept = isInBulk(filter)
        ? profile.keepPassing([filter], state, pod, passing, left)
        : this.#keepPassing(table, filter, left);
      if (typeof kept !== 'number') {
        this.#failing(kept);
        return;
      }
      left = kept;
      fillAt(passed, passing, left, i + 1);
    }
    const now = generations();
    fillAt(table.fits, passing, left, 1);
    copyAt(table.filtered, passing, left, now);
    // Why it rejects is asked of the one that has dropped the node.
    const onwards = filters.map((_, i) => filters.slice(i));
    for (let i = 0; i < count; i++) {
      const index = indexes[i]!;
      if (table.filtered[index] === now[index]) continue;
      this.#note(table, nodes[index]!, this.#filter(onwards[passed[index]!]!, nodes[index]!));
    }
  }

  /** Of the first of `passing`, one after the other. Notes who is rejected; answers how many are left, or the failure. */
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

  #failing(status: Status | undefined): Status | undefined {
    if (status?.code === 'Error') this.#error ??= status;
    return status;
  }

  #note(table: NodeTable, node: NodeInfo, status: Status | undefined): void {
    table.setStatus(node.index, status);
    if (this.#failing(status)?.code !== 'Error') table.markFiltered(node);
  }

  #filter(filters: readonly FilterPlugin[], node: NodeInfo): Status | undefined {
    const { profile, hasNoReservation } = this.#options;
    const { state, pod } = this.#asked;
    if (node.reservations.size === 0) return profile.filterAll(filters, state, pod, node);
    return filterWithReservations(profile, filters, state, pod, node, hasNoReservation);
  }
}

/** Whether the filter takes many nodes at once. */
export function isInBulk({ plugin }: FilterPlugin): boolean {
  return plugin.filterAll !== undefined;
}
