import { NodeOrder } from './node-order.ts';

const nothing = new Float64Array(0);

/** Working room that all rankings of a planner share, so that thousands of them cost one. It is the one's that took it last. */
export class RankingBuffers {
  readonly order = new NodeOrder();
  /** One scorer's scores of listed nodes, in their order; two more have room. */
  column = nothing;
  /** Indexes of nodes of which something kept is out of date. */
  outdated = new Int32Array(0);
  /** And of those of them that pass. */
  passing = new Int32Array(0);
  /** node index -> how many filters have let it pass; of those that are out of date. */
  passed = new Uint8Array(0);
  /** position of a scorer -> its raw scores by node index, where they are not kept */
  readonly #raw: Float64Array[] = [];
  /** position of a scorer -> its normalised scores by node index */
  readonly #normalised: Float64Array[] = [];
  #owner: object | undefined;
  #size = 0;

  isOf(owner: object): boolean {
    return this.#owner === owner;
  }

  /** Makes room for that many nodes; nothing is in it. */
  take(owner: object, nodeCount: number): void {
    this.#owner = owner;
    if (this.#size >= nodeCount) return;
    this.#size = nodeCount + (nodeCount >> 1);
    this.column = new Float64Array(this.#size + 2);
    this.outdated = new Int32Array(this.#size);
    this.passing = new Int32Array(this.#size);
    this.passed = new Uint8Array(this.#size);
    this.#raw.length = 0;
    this.#normalised.length = 0;
  }

  raw(scorer: number): Float64Array {
    return (this.#raw[scorer] ??= new Float64Array(this.#size));
  }

  normalised(scorer: number): Float64Array {
    return (this.#normalised[scorer] ??= new Float64Array(this.#size));
  }
}
