import { NodeOrder } from './node-order.ts';

const nothing = new Float64Array(0);

/**
 * Scratch buffers that all rankings of a planner share, so that thousands of rankings allocate once. They belong to the last
 * owner that took them.
 */
export class RankingBuffers {
  readonly order = new NodeOrder();
  /** One scorer's scores of listed nodes, in list order, plus space for two more. */
  column = nothing;
  /** Indexes of nodes with an outdated cached result. */
  outdated = new Int32Array(0);
  /** The outdated nodes that pass. */
  passing = new Int32Array(0);
  /** node index -> number of filters that it has passed, for outdated nodes */
  passed = new Uint8Array(0);
  /** node index -> mark of the node in ReservedNodes; 0 before and after use */
  marks = new Int32Array(0);
  /** scorer position -> raw scores by node index, for scorers without cached results */
  readonly #raw: Float64Array[] = [];
  /** scorer position -> normalized scores by node index */
  readonly #normalized: Float64Array[] = [];
  #owner: object | undefined;
  #size = 0;

  isOf(owner: object): boolean {
    return this.#owner === owner;
  }

  /** Takes the buffers and allocates space for this many nodes. The contents are undefined. */
  take(owner: object, nodeCount: number): void {
    this.#owner = owner;
    if (this.#size >= nodeCount) return;
    this.#size = nodeCount + (nodeCount >> 1);
    this.column = new Float64Array(this.#size + 2);
    this.outdated = new Int32Array(this.#size);
    this.passing = new Int32Array(this.#size);
    this.passed = new Uint8Array(this.#size);
    this.marks = new Int32Array(this.#size);
    this.#raw.length = 0;
    this.#normalized.length = 0;
  }

  raw(scorer: number): Float64Array {
    return (this.#raw[scorer] ??= new Float64Array(this.#size));
  }

  normalized(scorer: number): Float64Array {
    return (this.#normalized[scorer] ??= new Float64Array(this.#size));
  }
}
