import type { ResourceId } from '../api/resource-names.ts';
import type { NodeInfo } from './node-info.ts';

/** One resource on all known nodes, by `NodeView.index`; what is beyond the last node means nothing. */
export interface AmountColumn {
  readonly allocatable: Float64Array;
  /** Sums of requests. */
  readonly requested: Float64Array;
}

/** `NodeContents.nonZeroMilliCpu` and `nonZeroMemory` of all known nodes, by `NodeView.index`. */
export interface NonZeroColumns {
  readonly milliCpu: Float64Array;
  readonly memory: Float64Array;
}

/**
 * What nodes have and what is taken there, as columns of numbers: for whoever looks at thousands of nodes at once, and would spend most
 * of the time on the way to each one's own sums. What is answered is good until anything about any node changes.
 */
export interface AmountColumnsView {
  of(id: ResourceId): AmountColumn;
  readonly nonZero: NonZeroColumns;
}

/** The picture, as it now is. */
export interface ColumnsSource {
  readonly nodes: readonly NodeInfo[];
  /** node index -> generation */
  readonly generations: Float64Array;
  readonly generation: number;
}

interface Column {
  allocatable: Float64Array;
  requested: Float64Array;
}

/** Columns are kept from the first time on that somebody asks for them, and brought up to date when somebody asks again. */
export class AmountColumns implements AmountColumnsView {
  readonly #source: ColumnsSource;
  /** id -> its columns */
  readonly #columns = new Map<ResourceId, Column>();
  readonly #nonZero = { milliCpu: new Float64Array(0), memory: new Float64Array(0) };
  /** node index -> generation that the columns show; -1: none */
  #shown = new Float64Array(0);
  /** Generation of the picture that they show. */
  #generation = -1;

  constructor(source: ColumnsSource) {
    this.#source = source;
  }

  of(id: ResourceId): AmountColumn {
    let column = this.#columns.get(id);
    if (column === undefined) {
      const size = this.#shown.length;
      column = { allocatable: new Float64Array(size), requested: new Float64Array(size) };
      this.#columns.set(id, column);
      this.#shown.fill(-1);
      this.#generation = -1;
    }
    this.#bringUpToDate();
    return column;
  }

  get nonZero(): NonZeroColumns {
    this.#bringUpToDate();
    return this.#nonZero;
  }

  #bringUpToDate(): void {
    const { nodes, generations, generation } = this.#source;
    if (generation === this.#generation) return;
    this.#generation = generation;
    if (this.#shown.length < nodes.length) this.#grow(nodes.length + (nodes.length >> 1));
    const shown = this.#shown;
    for (let index = 0; index < nodes.length; index++) {
      if (shown[index] === generations[index]) continue;
      shown[index] = generations[index]!;
      this.#show(nodes[index]!, index);
    }
  }

  #show({ allocatable, requested, nonZeroMilliCpu, nonZeroMemory }: NodeInfo, index: number): void {
    this.#nonZero.milliCpu[index] = nonZeroMilliCpu;
    this.#nonZero.memory[index] = nonZeroMemory;
    for (const [id, column] of this.#columns) {
      column.allocatable[index] = allocatable.of(id);
      column.requested[index] = requested.of(id);
    }
  }

  #grow(size: number): void {
    this.#shown = new Float64Array(size).fill(-1);
    this.#nonZero.milliCpu = new Float64Array(size);
    this.#nonZero.memory = new Float64Array(size);
    for (const column of this.#columns.values()) {
      column.allocatable = new Float64Array(size);
      column.requested = new Float64Array(size);
    }
  }
}
