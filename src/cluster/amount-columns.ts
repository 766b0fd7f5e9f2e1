import type { ResourceId } from '../api/resource-names.ts';
import type { NodeInfo } from './node-info.ts';

/** Amounts of one resource on all known nodes, by `NodeView.index`. Entries beyond the last node have no meaning. */
export interface AmountColumn {
  readonly allocatable: Float64Array;
  /** Sum of requests per node. */
  readonly requested: Float64Array;
}

/** `NodeContents.nonZeroMilliCpu` and `nonZeroMemory` of all known nodes, by `NodeView.index`. */
export interface NonZeroColumns {
  readonly milliCpu: Float64Array;
  readonly memory: Float64Array;
}

/**
 * Allocatable and requested amounts of nodes as columns of numbers. For code that reads thousands of nodes at once, where fetching each
 * node's own sums would dominate. A result stays valid until any node changes.
 */
export interface AmountColumnsView {
  of(id: ResourceId): AmountColumn;
  readonly nonZero: NonZeroColumns;
}

/** The nodes to read. */
export interface ColumnsSource {
  readonly list: readonly NodeInfo[];
  /** node index -> generation */
  readonly generations: Float64Array;
  readonly generation: number;
}

interface Column {
  allocatable: Float64Array;
  requested: Float64Array;
}

/** Creates a column on first use and refreshes it on each later use. */
export class AmountColumns implements AmountColumnsView {
  readonly #source: ColumnsSource;
  /** id -> its column */
  readonly #columns = new Map<ResourceId, Column>();
  readonly #nonZero = { milliCpu: new Float64Array(0), memory: new Float64Array(0) };
  /** node index -> node generation in the columns; -1: none */
  #nodeGenerations = new Float64Array(0);
  /** Cluster generation of the columns. */
  #generation = -1;

  constructor(source: ColumnsSource) {
    this.#source = source;
  }

  of(id: ResourceId): AmountColumn {
    let column = this.#columns.get(id);
    if (column === undefined) {
      const size = this.#nodeGenerations.length;
      column = { allocatable: new Float64Array(size), requested: new Float64Array(size) };
      this.#columns.set(id, column);
      this.#nodeGenerations.fill(-1);
      this.#generation = -1;
    }
    this.#refresh();
    return column;
  }

  get nonZero(): NonZeroColumns {
    this.#refresh();
    return this.#nonZero;
  }

  #refresh(): void {
    const { list: nodes, generations, generation } = this.#source;
    if (generation === this.#generation) return;
    this.#generation = generation;
    if (this.#nodeGenerations.length < nodes.length) this.#grow(nodes.length + (nodes.length >> 1));
    const current = this.#nodeGenerations;
    for (let index = 0; index < nodes.length; index++) {
      if (current[index] === generations[index]) continue;
      current[index] = generations[index]!;
      this.#write(nodes[index]!, index);
    }
  }

  #write({ allocatable, requested, nonZeroMilliCpu, nonZeroMemory }: NodeInfo, index: number): void {
    this.#nonZero.milliCpu[index] = nonZeroMilliCpu;
    this.#nonZero.memory[index] = nonZeroMemory;
    for (const [id, column] of this.#columns) {
      column.allocatable[index] = allocatable.of(id);
      column.requested[index] = requested.of(id);
    }
  }

  #grow(size: number): void {
    this.#nodeGenerations = new Float64Array(size).fill(-1);
    this.#nonZero.milliCpu = new Float64Array(size);
    this.#nonZero.memory = new Float64Array(size);
    for (const column of this.#columns.values()) {
      column.allocatable = new Float64Array(size);
      column.requested = new Float64Array(size);
    }
  }
}
